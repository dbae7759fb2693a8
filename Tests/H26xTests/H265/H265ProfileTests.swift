// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct H265ProfileTests {
  typealias Constraints = H265.Profile.Constraints

  /// The flags in the order of the tables: 14, 12, 10, 8 bit, 4:2:2, 4:2:0, monochrome, intra, one picture, lower bit
  /// rate.
  private func profile(_ idc: UInt8, _ flags: String) -> H265.Profile {
    let order: [Constraints] = [
      .maximum14Bit, .maximum12Bit, .maximum10Bit, .maximum8Bit, .maximum422, .maximum420, .monochrome, .intra,
      .onePicture, .lowerBitRate,
    ]
    var constraints: Constraints = []
    for (flag, digit) in zip(order, flags) where digit == "1" { constraints.insert(flag) }
    return H265.Profile(idc: idc, constraints: constraints)
  }

  @Test(arguments: [
    (1, "0000000000", "main"), (2, "0000000000", "main-10"), (3, "0000000000", "main-still-picture"),
    (4, "0111111001", "monochrome"), (4, "0110111001", "monochrome-10"), (4, "0100111001", "monochrome-12"),
    (4, "0000111001", "monochrome-16"), (4, "0100110001", "main-12"), (4, "0110100001", "main-422-10"),
    (4, "0100100001", "main-422-12"), (4, "0111000001", "main-444"), (4, "0110000001", "main-444-10"),
    (4, "0100000001", "main-444-12"), (4, "0111110100", "main-intra"), (4, "0110110100", "main-10-intra"),
    (4, "0100110100", "main-12-intra"), (4, "0110100100", "main-422-10-intra"),
    (4, "0100100101", "main-422-12-intra"), (4, "0111000100", "main-444-intra"),
    (4, "0110000100", "main-444-10-intra"), (4, "0100000100", "main-444-12-intra"),
    (4, "0000000100", "main-444-16-intra"), (4, "0111000110", "main-444-still-picture"),
    (4, "0000000110", "main-444-16-still-picture"), (5, "1111000001", "high-throughput-444"),
    (5, "1110000001", "high-throughput-444-10"), (5, "1000000001", "high-throughput-444-14"),
    (5, "0000000100", "high-throughput-444-16-intra"), (6, "0111110001", "multiview-main"),
    (7, "0111110001", "scalable-main"), (7, "0110110001", "scalable-main-10"), (8, "0111110001", "3d-main"),
    (9, "1111110001", "screen-extended-main"), (9, "1110110001", "screen-extended-main-10"),
    (9, "1111000001", "screen-extended-main-444"), (9, "1110000001", "screen-extended-main-444-10"),
    (11, "1111000001", "screen-extended-high-throughput-444"),
    (11, "1110000001", "screen-extended-high-throughput-444-10"),
    (11, "1000000001", "screen-extended-high-throughput-444-14"), (10, "1111111001", "scalable-monochrome"),
    (10, "1100111001", "scalable-monochrome-12"), (10, "0000111001", "scalable-monochrome-16"),
    (10, "1111000001", "scalable-main-444"),
  ])
  func flagsOfTheTablesGiveTheProfileName(_ idc: UInt8, _ flags: String, _ name: String) {
    #expect(profile(idc, flags).name == name)
  }

  /// Flags of no profile: the profile whose required flags are all set, and that has the fewest flags to spare.
  @Test(arguments: [
    (4, "0111100001", "main-444"), (5, "1110001001", "high-throughput-444-10"),
    (5, "1100000001", "high-throughput-444-14"), (7, "0110111101", "scalable-main-10"),
    (8, "0111110011", "3d-main"), (10, "0010111001", "scalable-monochrome-16"),
    (11, "1100100001", "screen-extended-high-throughput-444-14"),
  ])
  func unlistedFlagsGiveTheNearestProfile(_ idc: UInt8, _ flags: String, _ name: String) {
    #expect(profile(idc, flags).name == name)
  }

  @Test func unknownProfilesHaveNoName() {
    #expect(profile(6, "0101110001").name == nil)
    #expect(profile(0, "0000000000").name == nil)
    #expect(profile(31, "1111111111").name == nil)
  }

  /// Chroma format and bit depth count more than the constraint flags.
  @Test func formatAndDepthCountMoreThanFlags() {
    #expect(profile(9, "0000000001").name(chromaFormat: .yuv444, bitDepth: 8) == "screen-extended-main-444")
    // No constraint flag, as one encoder writes it.
    #expect(profile(4, "0111000000").name(chromaFormat: .yuv444, bitDepth: 8) == "main-444")
    var both = profile(2, "0000000000")
    both.compatibilityFlags = 0x6000_0000
    #expect(both.name(chromaFormat: .yuv420, bitDepth: 10) == "main-10")
    #expect(both.name(chromaFormat: .yuv420, bitDepth: 8) == "main-10")
    #expect(profile(1, "0000000000").name(chromaFormat: .yuv420, bitDepth: 8) == "main")
    #expect(profile(1, "0000000000").name(chromaFormat: .yuv422, bitDepth: 10) == "main-422-10")
    for (chroma, depth, name) in [
      (ChromaFormat.monochrome, 8, "monochrome"), (.monochrome, 10, "monochrome-10"),
      (.monochrome, 12, "monochrome-12"),
      (.monochrome, 16, "monochrome-16"), (.yuv420, 8, "main"), (.yuv420, 10, "main-10"), (.yuv420, 12, "main-12"),
      (.yuv422, 10, "main-422-10"), (.yuv422, 12, "main-422-12"), (.yuv444, 8, "main-444"),
      (.yuv444, 10, "main-444-10"), (.yuv444, 12, "main-444-12"), (.yuv422, 16, "main-444-16-intra"),
    ] {
      #expect(profile(0, "0000000000").name(chromaFormat: chroma, bitDepth: depth) == name)
    }
  }

  /// The flags of a profile to which the pictures do not keep are corrected, for every bit depth.
  @Test func depthsAndFormatsCorrectTheFlags() throws {
    for idc: UInt8 in [4, 5, 7, 9, 10, 11] {
      for flags in ["0000000001", "0000000101"] {
        let names = ChromaFormat.allCases.map { chroma in
          (8...16).map { profile(idc, flags).name(chromaFormat: chroma, bitDepth: $0) }.joined(separator: " ")
        }
        try RecordFile.tables.expect("H.265 corrected profile \(idc) \(flags)", names)
      }
    }
  }

  /// A profile is compatible with itself, even if its flag is missing.
  @Test func aProfileIsCompatibleWithItself() {
    var profile = H265.Profile(idc: 2)
    #expect(profile.compatibilityFlags == 0x2000_0000)
    #expect((0...255 as ClosedRange<UInt8>).filter { profile.isCompatible(with: $0) } == [2])
    profile.compatibilityFlags = 0xC000_0001
    #expect((0...255 as ClosedRange<UInt8>).filter { profile.isCompatible(with: $0) } == [0, 1, 2, 31])
    #expect(H265.Profile(idc: 31).compatibilityFlags == 1 && H265.Profile(idc: 32).compatibilityFlags == 0)
    #expect(H265.Profile(idc: 40).isCompatible(with: 40) && !H265.Profile(idc: 40).isCompatible(with: 8))
    // The names follow the flags where the profile itself has none.
    var other = H265.Profile(idc: 12)
    #expect(other.name == nil)
    other.compatibilityFlags = 0x4000_0000
    #expect(other.name == "main")
  }

  /// A decoder of one of these decodes the stream as well.
  @Test func listsCompatibleProfiles() {
    var still = H265.Profile(idc: 3)
    still.compatibilityFlags = 0x7000_0000
    let others = still.compatibleProfiles(of: "main-still-picture", chromaFormat: .yuv420)
    #expect(others.starts(with: ["main", "main-10"]))
    #expect(others.contains("main-444-16-still-picture") && !others.contains("main-still-picture"))
    #expect(Set(others).count == others.count)
    let main = H265.Profile(idc: 1).compatibleProfiles(of: "main", chromaFormat: .yuv420)
    #expect(main.first == "main-10" && main.contains("3d-main") && !main.contains("main"))
    let intra = H265.Profile(idc: 4)
    #expect(intra.compatibleProfiles(of: "main-intra", chromaFormat: .yuv420).first == "main")
    #expect(!intra.compatibleProfiles(of: "main-intra", chromaFormat: .monochrome).contains("main"))
    #expect(intra.compatibleProfiles(of: "main-422-12-intra", chromaFormat: .yuv422) == ["main-422-12"])
    #expect(intra.compatibleProfiles(of: "high-throughput-444-14", chromaFormat: .yuv444).count == 1)
    #expect(intra.compatibleProfiles(of: "main-12", chromaFormat: .yuv420) == [])
  }

  @Test func levelsHaveNamesAndBufferSizes() {
    let names: [UInt8: String] = [
      30: "1", 60: "2", 63: "2.1", 90: "3", 93: "3.1", 120: "4", 123: "4.1", 150: "5", 153: "5.1", 156: "5.2", 180: "6",
      183: "6.1", 186: "6.2", 189: "6.3", 210: "7", 213: "7.1", 216: "7.2",
    ]
    for idc in UInt8.min...UInt8.max { #expect(H265.Level(idc: idc).name == names[idc]) }
    // A.4.2, at level 4.1: 1920 × 1080 is the largest of its sizes, 1280 × 720 less than half of it.
    let level = H265.Level(idc: 123)
    #expect(level.maximumDecodedPictures(lumaPictureSize: 1920 * 1080) == 6)
    #expect(level.maximumDecodedPictures(lumaPictureSize: 1280 * 720) == 12)
    #expect(level.maximumDecodedPictures(lumaPictureSize: 640 * 480) == 16)
    #expect(level.maximumDecodedPictures(lumaPictureSize: 1_600_000) == 8)
    #expect(H265.Level(idc: 93, isHighTier: true).tierName == "high")
  }
}
