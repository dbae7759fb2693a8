// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import H26x

@Suite struct ProfileTests {
  /// Constraint flags → caps profile, by A.2.
  static let names: [(UInt8, UInt8, String?)] = [
    (66, 0x00, "baseline"), (66, 0x40, "constrained-baseline"), (66, 0x80, "baseline"), (77, 0x00, "main"),
    (77, 0x40, "main"), (88, 0x00, "extended"), (100, 0x00, "high"), (100, 0x08, "progressive-high"),
    (100, 0x0C, "constrained-high"), (100, 0x04, "high"), (110, 0x00, "high-10"), (110, 0x10, "high-10-intra"),
    (110, 0x08, "progressive-high-10"), (122, 0x00, "high-4:2:2"), (122, 0x10, "high-4:2:2-intra"),
    (244, 0x00, "high-4:4:4"), (244, 0x10, "high-4:4:4-intra"), (44, 0x00, "cavlc-4:4:4-intra"),
    (118, 0x00, "multiview-high"), (128, 0x00, "stereo-high"), (83, 0x00, "scalable-baseline"),
    (83, 0x04, "scalable-constrained-baseline"), (86, 0x00, "scalable-high"), (86, 0x04, "scalable-constrained-high"),
    (86, 0x10, "scalable-high-intra"), (1, 0x00, nil),
  ]

  @Test(arguments: names.indices) func flagsDecideTheName(_ index: Int) {
    let (idc, flags, name) = Self.names[index]
    #expect(H264.Profile(idc: idc, constraintFlags: flags).name == name)
  }

  @Test func flagsDecideTheCompatibleProfiles() {
    func compatible(_ idc: UInt8, _ flags: UInt8) -> [String] {
      H264.Profile(idc: idc, constraintFlags: flags).compatibleProfiles
    }
    let all = ["main", "high", "high-10", "high-4:2:2", "high-4:4:4"]
    #expect(compatible(66, 0x40) == ["baseline"] + all)
    #expect(compatible(66, 0x00) == ["extended"])
    #expect(compatible(77, 0x00) == Array(all.dropFirst()))
    #expect(compatible(88, 0xC0) == ["constrained-baseline", "baseline"] + all)
    #expect(compatible(88, 0x80) == ["baseline"])
    #expect(compatible(88, 0x40) == all)
    #expect(compatible(88, 0x00) == [])
    #expect(compatible(100, 0x40).first == "main")
    #expect(compatible(110, 0x10) == ["high-10", "high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"])
    #expect(compatible(122, 0x10) == ["high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"])
    #expect(compatible(244, 0x10) == ["high-4:4:4"])
    #expect(H264.Profile(idc: 118, constraintFlags: 0).compatibleProfiles(viewCount: 2).first == "stereo-high")
  }

  @Test func levelNamesFollowTheIDCAndTheProfile() {
    let main = H264.Profile(idc: 77, constraintFlags: 0)
    let constrained = H264.Profile(idc: 77, constraintFlags: 0x10)
    let high = H264.Profile(idc: 100, constraintFlags: 0x10)
    let names: [(UInt8, H264.Profile, String?)] = [
      (10, main, "1"), (11, main, "1.1"), (11, constrained, "1b"), (9, high, "1b"), (11, high, "1.1"),
      (41, main, "4.1"), (62, main, "6.2"), (0, main, nil), (43, main, nil), (255, main, nil),
    ]
    for (idc, profile, name) in names { #expect(H264.Level(idc: idc, profile: profile).name == name) }
  }

  @Test func everyNALUnitTypeHasANameAndKeepsItsNumber() {
    for raw in UInt8.min...UInt8.max {
      let type = H264.NALUnitType(rawValue: raw)
      #expect(type.rawValue == raw & 31)
      #expect(!type.name.isEmpty)
      #expect(type.isVCL == (1...5).contains(raw & 31))
    }
    #expect(H264.NALUnitType.accessUnitDelimiter.name == "access unit delimiter (AUD)")
  }
}
