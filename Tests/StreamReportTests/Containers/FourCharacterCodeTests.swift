// SPDX-License-Identifier: MPL-2.0
import StreamReport
import Testing

@Suite struct FourCharacterCodeTests {
  @Test func isPrintedAsItsCharacters() {
    #expect("\(FourCharacterCode("avc1"))" == "avc1")
    #expect("\([FourCharacterCode(rawValue: 0x6D6F_6F00)])" == "[moo.]")
  }
}
