// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Testing
import VideoDecoding

@Suite struct NamespaceTests {
  /// The owner of the new root has no number in the namespace: it is entered by its mode, not by a capability.
  @Test("where the system allows a user namespace, the file system is empty too")
  func fileSystemIsEmptyInANamespace() throws {
    let protection = try CodecStarter.begin(limits: ProcessLimits(memory: 1 << 30, sandbox: .bestEffort)).protection
    #expect(protection.contains(.mountNamespace) == protection.contains(.userNamespace), "\(protection)")
  }
}
