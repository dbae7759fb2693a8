// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265SEITests {
  /// Reads the only message of an SEI NAL unit made of one payload.
  private func read<Value>(
    _ type: SEIPayloadType, _ payload: [UInt8], _ body: (borrowing SEIMessages.Message) throws(BitstreamError) -> Value
  ) throws -> Value {
    let nalUnit = seiNALUnit([(type, payload)], header: [0x4E, 0x01])
    var messages = SEIMessages(nalUnit.span, headerLength: H265.NALUnitHeader.byteCount)
    guard let message = try messages.next() else { throw BitstreamError(.truncated, "message", bitOffset: 0) }
    #expect(message.type == type && message.size == payload.count)
    return try body(message)
  }

  @Test func readsRecoveryPoints() throws {
    for point in [
      H265.RecoveryPoint(pictureOrderCount: -32768, isExactMatch: false, isBrokenLink: true),
      H265.RecoveryPoint(pictureOrderCount: 32767), H265.RecoveryPoint(pictureOrderCount: 0),
    ] {
      let back = try read(.recoveryPoint, point.payload()) { message throws(BitstreamError) in
        try H265.RecoveryPoint(message)
      }
      #expect(back == point)
    }
  }

  @Test func readsActiveParameterSets() throws {
    let sets = H265.ActiveParameterSets(
      videoParameterSetID: 9, isSelfContained: true, hasNoUpdates: true,
      sequenceParameterSetIDs: (0..<16).map { .init($0) })
    let back = try read(.activeParameterSets, sets.payload()) { message throws(BitstreamError) in
      try H265.ActiveParameterSets(message)
    }
    #expect(back == sets)
  }

  @Test func readsTimeCodes() throws {
    var full = H265.TimeCode.ClockTimestamp()
    full.isFieldBased = true
    full.countingType = 4
    full.isFull = true
    full.hasDroppedCount = true
    full.frames = 511
    (full.hours, full.minutes, full.seconds) = (23, 59, 58)
    full.timeOffsetLength = 31
    full.timeOffset = -1_000_000_000
    var short = H265.TimeCode.ClockTimestamp()
    short.isDiscontinuous = true
    short.seconds = 7
    short.minutes = 8
    let code = H265.TimeCode(clockTimestamps: [full, nil, short])
    let back = try read(.timeCode, code.payload()) { message throws(BitstreamError) in try H265.TimeCode(message) }
    #expect(back == code)
    let none = H265.TimeCode()
    #expect(
      try read(.timeCode, none.payload()) { message throws(BitstreamError) in try H265.TimeCode(message) } == none)
  }

  private func timedSPS(units: Bool) -> H265.SequenceParameterSet {
    var sps = H265Samples.plainSPS()
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    common.removalDelayLength = 10
    common.outputDelayLength = 5
    common.initialRemovalDelayLength = 20
    if units {
      common.subPicture = .init(
        tickDivisorMinus2: 1, removalDelayIncrementLength: 3, isInPictureTiming: true, outputDelayLength: 7,
        sizeScale: 0)
    }
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1), bufferCount: 2)
    layer.nal = [UInt32](1...2).map {
      var buffer = H265.HRDParameters.CodedPictureBuffer(bitRateValue: $0, sizeValue: $0, isConstantBitRate: false)
      if units { (buffer.unitSizeValue, buffer.unitBitRateValue) = (1, 1) }
      return buffer
    }
    var vui = H265.VUIParameters()
    vui.isPictureStructurePresent = true
    var timing = H265.VUIParameters.Timing(unitsInTick: 1, timeScale: 25)
    timing.hrdParameters = .init(common: common, subLayers: [layer])
    vui.timing = timing
    sps.vui = vui
    return sps
  }

  @Test(arguments: [true, false]) func readsPictureTiming(_ units: Bool) throws {
    let sps = timedSPS(units: units)
    let parsed = try H265.SequenceParameterSet(bytes: sps.nalUnit())
    #expect(parsed == sps)
    for structure in UInt8(0)..<16 {
      let timing = H265.PictureTiming(
        display: .init(
          structure: .init(rawValue: structure), sourceScanType: structure & 3, isDuplicate: structure == 5),
        delays: .init(cpbRemoval: 1024, dpbOutput: 31, dpbOutputUnit: units ? 127 : nil))
      let back = try read(.pictureTiming, timing.payload(sps: sps)) { message throws(BitstreamError) in
        try H265.PictureTiming(message, sps: sps)
      }
      #expect(back == timing)
    }
    typealias Structure = H265.PictureTiming.Structure
    let all = (UInt8(0)..<13).map { Structure(rawValue: $0) }
    #expect(all.map(\.fieldPeriods) == [2, 1, 1, 2, 2, 3, 3, 4, 6, 1, 1, 1, 1])
    #expect(
      all.map(\.isField) == [false, true, true, false, false, false, false, false, false, true, true, true, true])
    #expect(all.map(\.isTopFirst) == [nil, true, false, true, false, true, false, nil, nil, true, false, true, false])
    #expect(all.map(\.isSecondField) == [nil, nil, nil, nil, nil, nil, nil, nil, nil, true, true, false, false])
  }

  @Test(arguments: [true, false]) func readsBufferingPeriods(_ units: Bool) throws {
    let sets = try H265Samples.store(timedSPS(units: units))
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    if !units {
      writer.flag(true)
      writer.u(10, 1000)
      writer.u(5, 30)
    }
    writer.flag(true)
    writer.u(10, 1023)
    for value: UInt32 in 1...8 { writer.u(20, value) }
    writer.trailingBits()
    let period = try read(.bufferingPeriod, writer.bytes) { message throws(BitstreamError) in
      try H265.BufferingPeriod(message, parameterSets: sets)
    }
    #expect(period.isConcatenation && period.removalDelayDelta == 1024)
    #expect(period.randomAccess?.cpbDelayOffset == (units ? nil : 1000))
    #expect(period.randomAccess?.dpbDelayOffset == (units ? nil : 30))
    #expect(period.nal.map(\.removalDelay) == [1, 5] && period.nal.map(\.removalDelayOffset) == [2, 6])
    #expect(period.nal.map { $0.alternative?.removalDelay } == [3, 7] && period.vcl == [])
    let sps = try #require(sets.sequenceParameterSet(0))
    #expect(period.payload(sps: sps) == writer.bytes)
  }

  /// In H.265 a flag signals whether these last.
  @Test func readsPersistenceFlags() throws {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.u(3, 0b010)
    writer.u(16, 0x4000)
    writer.flag(true)
    writer.trailingBits()
    let orientation = try read(.displayOrientation, writer.bytes) { message throws(BitstreamError) in
      try DisplayOrientation(message, codec: .h265)
    }
    #expect(orientation?.anticlockwiseRotation == 0x4000 && orientation?.repetitionPeriod == 1)
    #expect(orientation?.isFlippedHorizontally == true && orientation?.isFlippedVertically == false)
    var packing = BitWriter(addsEmulationPrevention: false)
    packing.ue(0)
    packing.flag(false)
    packing.u(7, 3)
    packing.flag(false)
    packing.u(6, 1)
    packing.u(6, 0)
    packing.u(16, 0)
    packing.u(8, 0)
    packing.flag(false)
    packing.flag(false)
    packing.trailingBits()
    let arrangement = try read(.framePackingArrangement, packing.bytes) { message throws(BitstreamError) in
      try FramePackingArrangement(message, codec: .h265)
    }
    #expect(arrangement.type == 3 && arrangement.repetitionPeriod == 0)
  }
}

@Suite struct H265DecodedPictureHashTests {
  private typealias Hash = H265.DecodedPictureHash

  private func read(_ payload: [UInt8]) throws -> H265.DecodedPictureHash {
    let nalUnit = seiNALUnit([(.decodedPictureHash, payload)], header: [0x50, 0x01])
    var messages = SEIMessages(nalUnit.span, headerLength: 2)
    guard let message = try messages.next() else { throw BitstreamError(.truncated, "message", bitOffset: 0) }
    return try H265.DecodedPictureHash(message)
  }

  @Test func messagesComeBack() throws {
    for hash in [
      Hash.md5((0..<3).map { [UInt8](repeating: $0, count: 16) }), .md5([[UInt8](0..<16)]), .crc([1, 2, 0xFFFF]),
      .crc([7]), .checksum([1, 2, 0xFFFF_FFFF]), .checksum([0]),
    ] {
      #expect(try read(hash.payload()) == hash)
    }
    #expect(throws: BitstreamError.self) { try read([3] + [UInt8](repeating: 0, count: 48)) }
    #expect(throws: BitstreamError.self) { try read([0, 1, 2]) }
  }

  /// The MD5 of RFC 1321's test suite, as planes of one row.
  @Test(arguments: [
    ("a", "0cc175b9c0f1b6a831c399e269772661"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    (
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "57edf4a22be3c955ac49da2e2107b67a"
    ),
  ])
  func md5MatchesRFC1321(_ text: String, _ digest: String) {
    let bytes = Array(text.utf8)
    let expected = stride(from: 0, to: 32, by: 2).compactMap { UInt8(digest.dropFirst($0).prefix(2), radix: 16) }
    #expect(matches(.md5([expected]), bytes, width: bytes.count, height: 1, stride: bytes.count))
    // The same bytes in two rows with padding between them.
    if bytes.count == 80 {
      let rows = Array(bytes[..<40]) + [9, 9, 9] + Array(bytes[40...])
      #expect(matches(.md5([expected]), rows, width: 40, height: 2, stride: 43))
    }
  }

  private func matches(
    _ hash: H265.DecodedPictureHash, _ bytes: [UInt8], width: Int, height: Int, stride: Int, bitDepth: Int = 8,
    index: Int = 0
  ) -> Bool {
    guard let plane = Hash.Plane(bytes.span, width: width, height: height, stride: stride, bitDepth: bitDepth) else {
      return false
    }
    return hash.matches(plane, index: index)
  }

  /// A grey picture of 256 × 256 samples, from a stream with picture hashes.
  @Test func checksumMatchesAnEncodersPicture() throws {
    let suffix: [UInt8] = [
      0x50, 0x01, 0x84, 0x0D, 0x02, 0x00, 0x7F, 0x80, 0x00, 0x00, 0x2F, 0xE0, 0x00, 0x00, 0x2F, 0xE0, 0x00, 0x80,
    ]
    var messages = SEIMessages(suffix.span, headerLength: 2)
    guard let message = try messages.next() else { throw BitstreamError(.truncated, "message", bitOffset: 0) }
    let hash = try Hash(message)
    #expect(hash == .checksum([0x7F8000, 0x2FE000, 0x2FE000]))
    let luma = [UInt8](repeating: 126, count: 256 * 256)
    let chroma = [UInt8](repeating: 128, count: 128 * 128)
    #expect(matches(hash, luma, width: 256, height: 256, stride: 256))
    #expect(matches(hash, chroma, width: 128, height: 128, stride: 128, index: 1))
    #expect(matches(hash, chroma, width: 128, height: 128, stride: 128, index: 2))
    var wrong = luma
    wrong[65_535] = 0
    #expect(!matches(hash, wrong, width: 256, height: 256, stride: 256))
  }

  /// Two samples of ten bits, 0x0102 and 0x0304, in one column.
  @Test func computesChecksumAndCRC() {
    let bytes: [UInt8] = [0x02, 0x01, 0x04, 0x03]
    // The second sample's mask is 1: 2 + 1 + 5 + 2.
    #expect(matches(.checksum([10]), bytes, width: 1, height: 2, stride: 2, bitDepth: 10))
    #expect(!matches(.checksum([11]), bytes, width: 1, height: 2, stride: 2, bitDepth: 10))
    // The CRC as division, bit by bit.
    var register: UInt32 = 0xFFFF
    let text = Array("123456789".utf8)
    for byte in text + [0, 0] {
      for bit in (0..<8).reversed() {
        register = register << 1 | UInt32(byte >> UInt8(bit) & 1)
        if register & 0x10000 != 0 { register ^= 0x11021 }
      }
    }
    #expect(matches(.crc([UInt16(register)]), text, width: 9, height: 1, stride: 9))
    #expect(!matches(.crc([UInt16(register)]), text, width: 9, height: 1, stride: 9, index: 1))
  }

  /// D.3.19: the mask of the checksum is made of both bytes of column and row.
  @Test func computesChecksumsOfLargePlanes() {
    let (width, height) = (300, 600)
    var sum: UInt32 = 0
    for y in 0..<height {
      for x in 0..<width { sum &+= UInt32((x & 0xFF) ^ (y & 0xFF) ^ (x >> 8) ^ (y >> 8)) }
    }
    let bytes = [UInt8](repeating: 0, count: width * height)
    #expect(matches(.checksum([sum]), bytes, width: width, height: height, stride: width))
    #expect(!matches(.checksum([sum &+ 1]), bytes, width: width, height: height, stride: width))
  }

  /// Sizes of planes at their limits, and one beyond.
  @Test func checksSizesOfPlanes() {
    for (width, height, stride, isLegal) in [
      (1, 1, 1 << 24, true), (1, 1, 1 << 24 + 1, false), (4, 2, 4, true), (4, 2, 3, false), (4, 3, 4, false),
      (0, 1, 4, false), (1, 0, 4, false), (1, 2, 7, true), (1, 2, 8, false),
    ] {
      let bytes = [UInt8](repeating: 0, count: 8)
      let plane = H265.DecodedPictureHash.Plane(bytes.span, width: width, height: height, stride: stride, bitDepth: 8)
      let isThere = plane != nil
      #expect(isThere == isLegal, "\(width) \(height) \(stride)")
    }
  }

  @Test func planesBeyondTheBytesDoNotMatch() {
    let bytes = [UInt8](repeating: 0, count: 10)
    #expect(!matches(.checksum([0]), bytes, width: 6, height: 2, stride: 5))
    #expect(!matches(.checksum([0]), bytes, width: 5, height: 3, stride: 5))
    #expect(!matches(.checksum([0]), bytes, width: 0, height: 0, stride: 0))
    #expect(!matches(.checksum([0]), bytes, width: 5, height: 2, stride: 5, bitDepth: 9))
  }
}
