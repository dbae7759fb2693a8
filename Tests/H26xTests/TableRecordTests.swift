// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Profiles, levels and other tables for every value that a stream may send.
@Suite struct TableRecordTests {
  /// Names with the number of combinations that have them, and a digest of the results.
  private struct Tally {
    private var counts: [String: Int] = [:]
    private var digest = Digest()

    mutating func add(_ name: String?, _ values: Int..., texts: [String] = []) {
      counts[name ?? "-", default: 0] += 1
      digest.add(name ?? "-")
      for value in values { digest.add(value) }
      for text in texts { digest.add(text) }
    }

    var columns: [String] {
      [counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "), digest.text]
    }
  }

  @Test func profilesOfH264MatchTheRecord() throws {
    for idc: UInt8 in [0, 44, 66, 77, 83, 86, 88, 100, 110, 118, 122, 128, 134, 135, 138, 139, 144, 244, 255] {
      var tally = Tally()
      for flags in UInt8.min...UInt8.max {
        let profile = H264.Profile(idc: idc, constraintFlags: flags)
        tally.add(
          profile.name, profile.isIntraOnly ? 1 : 0, profile.hasHighSyntax ? 1 : 0,
          profile.allowsArbitrarySliceOrder ? 1 : 0,
          texts: profile.compatibleProfiles + profile.compatibleProfiles(viewCount: 2)
            + profile.compatibleProfiles(viewCount: 3))
      }
      try RecordFile.tables.expect("H.264 profile \(idc)", tally.columns)
    }
  }

  @Test func levelsOfH264MatchTheRecord() throws {
    for (name, profile) in [
      ("Main", H264.Profile(idc: 77, constraintFlags: 0)), ("Main 1b", H264.Profile(idc: 77, constraintFlags: 0x10)),
      ("High", H264.Profile(idc: 100, constraintFlags: 0x10)),
    ] {
      let rows = (UInt8.min...UInt8.max).map { idc in
        let level = H264.Level(idc: idc, profile: profile)
        return (
          "\(level.name ?? "-") \(level.maximumDecodedPictureBufferMacroblocks) \(level.maximumMacroblocksPerSecond)",
          idc
        )
      }
      // Most values are no level.
      let known = rows.filter { !$0.0.hasPrefix("- ") || $0.1 % 64 == 0 }.map { "\($0.1): \($0.0)" }
      var digest = Digest()
      for row in rows { digest.add(row.0) }
      try RecordFile.tables.expect("H.264 levels \(name)", [known.joined(separator: "; "), digest.text])
    }
  }

  /// Every combination of the flags by which profiles differ.
  @Test(arguments: 0...12 as ClosedRange<UInt8>) func profilesOfH265MatchTheRecord(_ idc: UInt8) throws {
    var tally = Tally()
    // general_max_14bit_constraint_flag to general_max_12bit_constraint_flag.
    for bits in UInt64(0)..<1024 {
      let profile = H265.Profile(idc: idc, constraints: H265.Profile.Constraints(rawValue: bits << 34))
      let (chroma, depth) = (ChromaFormat.allCases[Int(bits % 4)], 8 + 2 * Int(bits / 4 % 5))
      let name = profile.name(chromaFormat: chroma, bitDepth: depth)
      tally.add(
        profile.name, profile.isIntraOnly ? 1 : 0,
        texts: [name] + profile.compatibleProfiles(of: name, chromaFormat: chroma))
    }
    try RecordFile.tables.expect("H.265 profile \(idc)", tally.columns)
  }

  @Test func levelsOfH265MatchTheRecord() throws {
    let rows = (UInt8.min...UInt8.max).map { idc in
      let level = H265.Level(idc: idc)
      let largest = level.maximumLumaPictureSize
      let sizes = [1, largest / 4, largest / 4 + 1, largest / 2, largest / 2 + 1, largest / 4 * 3, largest / 4 * 3 + 1]
      let pictures = sizes.map { "\(level.maximumDecodedPictures(lumaPictureSize: $0))" }.joined(separator: " ")
      return ("\(level.name ?? "-") \(largest) \(level.maximumLumaSampleRate) \(pictures)", idc)
    }
    let known = rows.filter { !$0.0.hasPrefix("- ") || $0.1 % 64 == 0 }.map { "\($0.1): \($0.0)" }
    var digest = Digest()
    for row in rows { digest.add(row.0) }
    try RecordFile.tables.expect("H.265 levels", [known.joined(separator: "; "), digest.text])
    #expect(H265.Level(idc: 30).tierName == "main" && H265.Level(idc: 30, isHighTier: true).tierName == "high")
  }

  /// All members of AccessUnitContents have different bits.
  @Test func contentsHaveDistinctBits() {
    let all: [AccessUnitContents] = [
      .delimiter, .sequenceParameterSet, .pictureParameterSet, .sei, .slice, .idr, .recoveryPoint, .iSlice, .pSlice,
      .bSlice, .reference, .pictureStart, .accessUnitStart, .accessUnitEnd, .damaged, .randomAccess, .skippedLeading,
      .unreadableSlice, .endOfSequence,
    ]
    #expect(all.allSatisfy { $0.rawValue.nonzeroBitCount == 1 } && Set(all.map(\.rawValue)).count == all.count)
  }

  /// The properties of every NAL unit type.
  @Test func nalUnitTypesMatchTheRecord() throws {
    func words<NALUnitType: NALUnitTypeSyntax>(_ type: NALUnitType, _ more: [(String, Bool)]) -> String {
      let facts = [
        ("VCL", type.isVCL), ("SEI", type.isSEI), ("set", type.isParameterSet), ("IDR", type.isIDR),
        ("random access", type.isRandomAccessPoint), ("skipped", type.isSkippedLeading),
        ("foreign", type.isRTPOnly), ("ends", type.endsAccessUnitWhenDropped),
      ]
      return ([type.name] + (facts + more).filter(\.1).map(\.0)).joined(separator: ", ")
    }
    for raw in UInt8(0)..<64 {
      let type = H265.NALUnitType(rawValue: raw)
      let more = [
        ("slice", type.isSlice), ("IRAP", type.isIRAP), ("BLA", type.isBLA), ("RASL", type.isRASL),
        ("RADL", type.isRADL), ("leading", type.isLeading), ("not referred to", type.isSubLayerNonReference),
      ]
      try RecordFile.tables.expect("type \(raw)", [words(H264.NALUnitType(rawValue: raw), []), words(type, more)])
    }
  }

  @Test func deblockingKeepsTheGivenValues() {
    let offsets = H265.PictureParameterSet.Deblocking.Offsets(beta: -3, tc: 5)
    let deblocking = H265.PictureParameterSet.Deblocking(isOverrideEnabled: true, offsets: offsets)
    #expect(deblocking.isOverrideEnabled && deblocking.offsets?.beta == -3 && deblocking.offsets?.tc == 5)
    let none = H265.PictureParameterSet.Deblocking()
    #expect(!none.isOverrideEnabled && none.offsets == nil)
  }
}
