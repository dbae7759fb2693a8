// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265AccessUnitDetectorTests {
  /// The boundary of each NAL unit: `[` begins an access unit, `.` continues it.
  private func boundaries(_ units: [[UInt8]], _ sets: H265.ParameterSets) -> String {
    var detector = H265.AccessUnitDetector()
    return units.map { unit in
      switch detector.feed(unit.span, parameterSets: sets).boundary {
      case .begins: "["
      case .continues: "."
      case .followsNext: "?"
      }
    }.joined()
  }

  private func expect(
    _ units: [[UInt8]], _ expected: String, sets: H265.ParameterSets? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = boundaries(units, try sets ?? H265Samples.store())
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  private func slice(
    _ type: H265.NALUnitType = .trailingR, _ count: UInt32 = 0, at address: UInt32 = 0, temporalID: UInt8 = 0,
    layerID: UInt8 = 0
  ) -> [UInt8] {
    H265Samples.slice(type, count: count, address: address, temporalID: temporalID, layerID: layerID)
  }

  @Test func picturesBeginAtTheirFirstSegment() throws {
    try expect([slice(.idrWithRADL), slice(.idrWithRADL, at: 4), slice(), slice(at: 9), slice()], "[.[.[")
    // Two pictures with equal headers.
    try expect([slice(.idrWithoutLeading), slice(.idrWithoutLeading)], "[[")
    var none = H265.ParameterSets()
    try none.insert(bytes: H265Samples.vps)
    try expect([slice(.idrWithRADL), slice(at: 4), slice(), slice(at: 9), slice()], "[.[.[", sets: none)
  }

  /// Types that begin an access unit after a picture, types that belong to it, and layers (7.4.2.4.4).
  @Test func otherTypesBeginOrContinueAccessUnits() throws {
    for type in UInt8(32)..<64 {
      let begins = [32, 33, 34, 35, 39, 41, 42, 43, 44].contains(type) || 48...55 ~= type
      let closes = type == 36 || type == 37
      try expect([slice(), H265Samples.nalUnit(type), slice()], begins ? "[[." : "[.[")
      try expect([slice(), H265Samples.nalUnit(type), H265Samples.nalUnit(33), slice()], begins ? "[[.." : "[.[.")
      try expect([slice(), H265Samples.nalUnit(type), slice(at: 9)], begins ? "[[." : closes ? "[.[" : "[..")
      try expect([slice(), H265Samples.nalUnit(type, layerID: 1), slice()], "[.[")
      try expect([slice(), H265Samples.nalUnit(type, layerID: 1), slice(at: 9)], "[..")
      if closes { try expect([slice(), H265Samples.nalUnit(type), H265Samples.nalUnit(37), slice()], "[..[") }
    }
  }

  @Test func headersBelongToTheNextPicture() throws {
    let headers = [35, 32, 33, 34, 39].map { H265Samples.nalUnit($0) }
    try expect(headers + [slice(.idrWithRADL), H265Samples.nalUnit(40)] + headers + [slice()], "[......[.....")
  }

  /// Pictures of other layers belong to the base layer's access unit; without a base layer, another one separates
  /// pictures.
  @Test func otherLayersBelongToTheBaseLayersAccessUnit() throws {
    let first = slice(.idrWithRADL)
    let view = slice(.trailingR, layerID: 1)
    try expect([first, view, slice(), view, slice()], "[.[.[")
    try expect([view, view, view], "[[[")
    try expect([view, slice(.trailingR, at: 3, layerID: 1), slice(.trailingR, layerID: 2), view], "[..[")
    try expect([first, H265Samples.nalUnit(39, layerID: 1), view, slice()], "[..[")
  }

  /// The first slice segment of a picture is lost.
  @Test func findsPicturesWithoutTheirFirstSegment() throws {
    try expect([slice(.trailingR, 4), slice(.trailingR, 4, at: 8), slice(.trailingR, 8, at: 4)], "[.[")
    try expect([slice(.trailingR, 4), slice(.trailingR, 6, at: 8), slice(.trailingR, 6, at: 12)], "[[.")
    // A POC far away: a damaged slice segment must not split the picture.
    try expect([slice(.trailingR, 4), slice(.trailingR, 204, at: 8), slice(.trailingR, 4, at: 12)], "[..")
    try expect([slice(.trailingR, 4), slice(.trailingR, 4, at: 8), slice(.trailingN, 4, at: 4)], "[.[")
  }

  /// Around slice segments whose PPS is missing.
  @Test func findsPicturesAroundUnreadableSegments() throws {
    func unreadable(at address: UInt32 = 0) -> [UInt8] {
      H265Samples.slice(.trailingR, count: 4, address: address, pps: 9)
    }
    try expect([unreadable(), unreadable(at: 4), unreadable(), slice(.trailingR, 5)], "[.[[")
    // The first readable segment identifies the picture.
    try expect([unreadable(), slice(.trailingR, 4, at: 8), slice(.trailingR, 6, at: 4)], "[.[")
    try expect([unreadable(), slice(.trailingR, 4, at: 8), slice(.trailingR, 4, at: 4)], "[..")
    // After the end of a sequence every segment begins a picture.
    try expect([unreadable(), H265Samples.nalUnit(36), unreadable(at: 4)], "[.[")
    try expect([slice(.trailingR, 4), unreadable(at: 4), slice(.trailingR, 4, at: 8)], "[..")
  }

  /// POCs up to 16 apart are those of neighbours.
  @Test func nearbyPOCsAreNeighbors() throws {
    for (count, isNear) in [(4, false), (5, true), (20, true), (21, false), (3, true), (0, true)] as [(UInt32, Bool)] {
      try expect([slice(.trailingR, 4), slice(.trailingR, count, at: 8)], isNear ? "[[" : "[.")
      // If the slice address goes back, any other POC is another picture's.
      try expect(
        [slice(.trailingR, 4), slice(.trailingR, 4, at: 8), slice(.trailingR, count, at: 8)],
        count == 4 ? "[.." : "[.[")
    }
    for type in [H265.NALUnitType.trailingN, .tsaR] {
      try expect([slice(.trailingR, 4), slice(type, 4, at: 8)], "[.")
      try expect([slice(.trailingR, 4), slice(type, 5, at: 8)], "[[")
    }
    try expect([slice(.trailingR, 4), slice(.trailingR, 4, at: 8), slice(.trailingR, 4, at: 4, temporalID: 1)], "[.[")
  }

  @Test func damagedNALUnitsDoNotSplitPictures() throws {
    try expect([slice(), [], [0x02], slice(at: 4), slice()], "[...[")
    try expect([[0x02, 0x01]], "[")
  }
}

@Suite struct H265PictureOrderTests {
  private func counts(
    _ pictures: [(H265.NALUnitType, UInt32)], endsBefore end: Int = .max, temporalIDs: [UInt8] = []
  ) throws -> [H265.PictureOrderCount] {
    let sets = try H265Samples.store()
    let sps = try #require(sets.sequenceParameterSet(0))
    var counter = H265.PictureOrderCounter()
    return try pictures.enumerated().map { index, picture in
      if index == end { counter.endSequence() }
      let bytes = H265Samples.slice(
        picture.0, count: picture.1, temporalID: index < temporalIDs.count ? temporalIDs[index] : 0)
      return counter.next(try H265.SliceSegmentHeader(bytes: bytes, sets), sps: sps)
    }
  }

  /// 8 bits: 250, 4 and 251 are 250, 260 and 251.
  @Test func highBitsFollowTheLastReference() throws {
    let found = try counts([
      (.idrWithRADL, 0), (.trailingR, 100), (.trailingR, 200), (.trailingR, 250), (.trailingR, 4), (.trailingN, 251),
      (.trailingR, 5), (.trailingR, 133),
    ])
    #expect(found.map(\.picture) == [0, 100, 200, 250, 260, 251, 261, 389])
    #expect(found.map(\.resetsPOC) == [true] + [Bool](repeating: false, count: 7))
  }

  /// Leading pictures and pictures of higher sub-layers are not prevTid0Pic (8.3.1).
  @Test func leadingAndHigherPicturesDoNotCount() throws {
    let found = try counts(
      [
        (.idrWithRADL, 0), (.trailingR, 120), (.radlR, 250), (.raslR, 250), (.trailingN, 250), (.tsaR, 250),
        (.trailingR, 126),
      ],
      temporalIDs: [0, 0, 0, 0, 0, 1, 0])
    // From 120, 250 is 250 − 256.
    #expect(found.map(\.picture) == [0, 120, -6, -6, -6, -6, 126])
  }

  @Test func randomAccessPointsResetPOCAndSkipLeadingPictures() throws {
    let start = try counts([(.cra, 40), (.raslN, 38), (.radlN, 39), (.trailingR, 41), (.cra, 60), (.raslN, 58)])
    #expect(start.map(\.picture) == [40, 38, 39, 41, 60, 58])
    #expect(start.map(\.resetsPOC) == [true, false, false, false, false, false])
    #expect(start.map(\.isSkipped) == [false, true, false, false, false, false])
    let spliced = try counts([
      (.idrWithRADL, 0), (.trailingR, 1), (.blaWithLeading, 200), (.raslN, 198), (.trailingR, 3),
    ])
    #expect(spliced.map(\.picture) == [0, 1, 200, 198, 259])
    #expect(spliced.map(\.isSkipped) == [false, false, false, true, false])
    #expect(spliced[2].resetsPOC)
    // After an end of sequence a CRA picture begins a sequence.
    let ended = try counts([(.idrWithRADL, 0), (.trailingR, 90), (.cra, 250), (.raslN, 249)], endsBefore: 2)
    #expect(ended.map(\.picture) == [0, 90, 250, 249])
    #expect(ended[2].resetsPOC && ended[3].isSkipped)
    let going = try counts([(.idrWithRADL, 0), (.trailingR, 90), (.cra, 250), (.raslN, 249)])
    #expect(going.map(\.picture) == [0, 90, -6, -7])
    #expect(!going[2].resetsPOC && !going[3].isSkipped)
    // An IDR picture has no RASL pictures: the type is damaged, and the references may be present.
    #expect(try counts([(.idrWithRADL, 0), (.trailingR, 4), (.raslN, 2)]).allSatisfy { !$0.isSkipped })
  }
}
