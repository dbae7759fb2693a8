// SPDX-License-Identifier: MPL-2.0
import HarnessSupport
import Testing

// The code of HarnessSupport's page.

/// The bytes that come out of `identity` when three go in.
func bytesOfIdentity() throws -> [UInt8] {
  let harness = try Harness("identity")
  harness.setInputCaps("application/octet-stream")
  harness.push([1, 2, 3])
  return try harness.pullBytes()
}

@Suite struct HarnessExampleTests {
  @Test func identityReturnsItsInput() throws { #expect(try bytesOfIdentity() == [1, 2, 3]) }
}
