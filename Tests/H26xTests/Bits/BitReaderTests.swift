// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct BitReaderTests {
  /// Values out of range are errors with the bit offset of the element; the ends of the range are legal.
  @Test func valuesOutOfRangeAreErrorsWithTheirOffset() throws {
    var writer = BitWriter()
    writer.flag(true)
    for value: Int32 in [-3, 4] { writer.se(value) }
    for value: UInt32 in [2, 5] { writer.ue(value) }
    writer.trailingBits()
    let bytes = writer.bytes
    func error(_ read: (inout BitReader) throws(BitstreamError) -> Void) -> BitstreamError? {
      failure { () throws(BitstreamError) in
        var reader = BitReader(bytes.span)
        _ = try reader.flag("first")
        try read(&reader)
      }
    }
    let atTheEnds = error { reader throws(BitstreamError) in
      _ = try reader.se(in: -3...3, "low")
      _ = try reader.se(in: -4...4, "high")
      _ = try reader.ue(in: 2...2, "low")
      _ = try reader.ue(in: 0...5, "high")
    }
    #expect(atTheEnds == nil)
    #expect(
      error { reader throws(BitstreamError) in _ = try reader.se(in: -2...9, "low") }
        == BitstreamError(.valueOutOfRange, "low", bitOffset: 1))
    #expect(
      error { reader throws(BitstreamError) in
        _ = try reader.se(in: -3...3, "low")
        _ = try reader.se(in: -3...3, "high")
      } == BitstreamError(.valueOutOfRange, "high", bitOffset: 6))
    #expect(
      error { reader throws(BitstreamError) in
        for _ in 0..<2 { _ = try reader.se(in: -9...9, "any") }
        _ = try reader.ue(in: 3...5, "low")
      } == BitstreamError(.valueOutOfRange, "low", bitOffset: 13))
    #expect(
      error { reader throws(BitstreamError) in
        for _ in 0..<2 { _ = try reader.se(in: -9...9, "any") }
        _ = try reader.ue(in: 0...5, "any")
        _ = try reader.ue(in: 0...4, "high")
      } == BitstreamError(.valueOutOfRange, "high", bitOffset: 16))
  }

  @Test func readsFixedLengths() throws {
    let bytes: [UInt8] = [0b1010_0101, 0xFF, 0x00, 0x80]
    var reader = BitReader(bytes.span)
    try same(reader.flag("a"), true)
    try same(reader.u(3, "b"), 0b010)
    try same(reader.u(0, "nothing"), 0)
    try same(reader.u(12, "c"), 0b0101_1111_1111)
    same(reader.bitOffset, 16)
    same(reader.isByteAligned, true)
    try same(reader.u(16, "d"), 0x80)
    same(
      failure { () throws(BitstreamError) in
        var reader = BitReader(bytes.span)
        try reader.skip(32, "all")
        _ = try reader.flag("e")
      }, BitstreamError(.truncated, "e", bitOffset: 32))
  }

  @Test func removesEmulationPrevention() throws {
    let bytes: [UInt8] = [0x00, 0x00, 0x03, 0x01, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03]
    var reader = BitReader(bytes.span)
    try same(reader.u(24, "a"), 1)
    try same(reader.u(32, "b"), 0)
    same(reader.moreRBSPData(), false)
    var raw = BitReader(bytes.span, removesEmulationPrevention: false)
    try same(raw.u(32, "a"), 0x0000_0301)
  }

  @Test func readsExpGolombCodes() throws {
    // Table 9-2: 1, 010, 011, 00100, 00111, then the stop bit.
    let bytes: [UInt8] = [0b1010_0110, 0b0100_0011, 0b1100_0000]
    var reader = BitReader(bytes.span)
    for value: UInt32 in [0, 1, 2, 3, 6] { try same(reader.ue(in: 0...6, "v"), value) }
    try reader.trailingBits()
    var signed = BitReader(bytes.span)
    for value: Int32 in [0, 1, -1, 2, -3] { try same(signed.se(in: -3...3, "v"), value) }
  }

  @Test func aValueOutOfRangeNamesItsElement() {
    let bytes: [UInt8] = [0b0010_0000]
    same(
      failure { () throws(BitstreamError) in
        var reader = BitReader(bytes.span)
        _ = try reader.ue(in: 0...2, "v")
      }, BitstreamError(.valueOutOfRange, "v", bitOffset: 0))
  }

  @Test(arguments: [32, 33, 60, 64, 200]) func tooManyZerosAreAnError(_ zeros: Int) {
    var writer = BitWriter(addsEmulationPrevention: false)
    for _ in 0..<zeros { writer.flag(false) }
    for _ in 0..<64 { writer.flag(true) }
    let bytes = writer.bytes
    same(
      failure { () throws(BitstreamError) in
        var reader = BitReader(bytes.span, removesEmulationPrevention: false)
        _ = try reader.ue(in: 0...UInt32.max, "v")
      }, BitstreamError(.codeTooLong, "v", bitOffset: 0))
  }

  @Test func extremeValuesComeBack() throws {
    let unsigned: [UInt32] = [0, 1, 254, 255, 65534, 65535, 1 << 30, UInt32.max - 1]
    let signed: [Int32] = [0, 1, -1, 32767, -32768, Int32.max, Int32.min + 1]
    for shift in 0..<8 {
      var writer = BitWriter()
      writer.u(shift, 0)
      for value in unsigned { writer.ue(value) }
      for value in signed { writer.se(value) }
      writer.trailingBits()
      let bytes = writer.bytes
      var reader = BitReader(bytes.span)
      try reader.skip(shift, "shift")
      for value in unsigned { try same(reader.ue(in: 0...UInt32.max, "v"), value) }
      for value in signed { try same(reader.se(in: Int32.min...Int32.max, "v"), value) }
      same(reader.moreRBSPData(), false)
      try reader.trailingBits()
    }
  }

  @Test func readsWhatItWrites() throws {
    var generator = SeededGenerator(state: 1)
    for _ in 0..<200 {
      var values: [(Int, UInt32)] = []
      var writer = BitWriter()
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        let count = Int.random(in: 1...32, using: &generator)
        // Many zeros, so that emulation prevention bytes are needed.
        let value = Bool.random(using: &generator) ? 0 : UInt32.random(in: 0...UInt32.max, using: &generator)
        let masked = count == 32 ? value : value & ((1 << UInt32(count)) - 1)
        values.append((count, masked))
        writer.u(count, value)
      }
      writer.trailingBits()
      let bytes = writer.bytes
      same(AnnexB.startCode(in: bytes.span), nil)
      var reader = BitReader(bytes.span)
      for (count, value) in values { try same(reader.u(count, "v"), value) }
      same(reader.moreRBSPData(), false)
      try reader.trailingBits()
    }
  }

  @Test func checksTrailingBits() throws {
    func check(_ bytes: [UInt8]) throws(BitstreamError) {
      var reader = BitReader(bytes.span)
      try reader.trailingBits()
    }
    try check([0x80])
    try check([0x80, 0, 0])
    // cabac_zero_words with their emulation prevention.
    try check([0x80, 0, 0, 3, 0, 0, 3])
    for bad: [UInt8] in [[], [0x00], [0x40], [0x81], [0x80, 1], [0xC0]] {
      same(failure { () throws(BitstreamError) in try check(bad) } == nil, false)
    }
  }

  @Test func slicesDoNotReadBeyondTheirEnd() throws {
    let bytes: [UInt8] = [1, 2, 3, 4]
    var reader = BitReader(bytes.span)
    _ = try reader.byte("first")
    var part = try reader.slice(bytes: 2, "part")
    try same(part.u(16, "both"), 0x0203)
    try same(reader.byte("last"), 4)
    same(part.maximumRemainingBits, 0)
    var isRefused = false
    do { _ = try part.flag("outside") } catch { isRefused = error.reason == .truncated }
    #expect(isRefused)
  }

  @Test func randomBytesNeverTrap() {
    var generator = SeededGenerator(state: 2)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator) & UInt8.random(in: 0...255, using: &generator)
      }
      var reader = BitReader(bytes.span)
      for _ in 0..<100 {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: _ = try? reader.u(Int.random(in: -1...40, using: &generator), "u")
        case 1: _ = try? reader.ue(in: 0...UInt32.max, "ue")
        case 2: _ = try? reader.se(in: Int32.min...Int32.max, "se")
        case 3: _ = reader.moreRBSPData()
        case 4: _ = try? reader.skip(Int.random(in: -1...90, using: &generator), "skip")
        default: _ = try? reader.flag("flag")
        }
        same(reader.bitOffset <= bytes.count * 8, true)
      }
    }
  }
}
