// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestSupport
import Testing

@testable import H26x

/// The functions that read several bytes at a time do what reading byte by byte does.
@Suite struct BulkBytesTests {
  @Test func findsPairsOfZerosAtEveryOffset() {
    for count in [0, 1, 2, 15, 64, 65, 66, 67, 80, 129, 130, 131, 150] {
      let plain = [UInt8](repeating: 0x80, count: count)
      #expect(BulkBytes.firstZeroPair(in: plain.span, from: 0) == nil)
      for place in 0..<max(0, count - 1) {
        var bytes = plain
        (bytes[place], bytes[place + 1]) = (0, 0)
        for start in [0, 1, place / 2, place] where start <= place {
          #expect(BulkBytes.firstZeroPair(in: bytes.span, from: start) == place)
        }
        #expect(BulkBytes.firstZeroPair(in: bytes.span, from: place + 1) == nil)
        // A lone zero before it, and the value 1, which a borrow would take for a zero.
        if place > 2 { bytes[place - 2] = 0 }
        if place + 2 < count { bytes[place + 2] = 1 }
        #expect(BulkBytes.firstZeroPair(in: bytes.span, from: 0) == place)
      }
    }
    let bytes: [UInt8] = [0, 0, 0]
    for (start, place) in [(-1, nil), (0, 0), (1, 1), (2, nil), (3, nil), (4, nil)] as [(Int, Int?)] {
      #expect(BulkBytes.firstZeroPair(in: bytes.span, from: start) == place)
    }
  }

  @Test func readsBigEndianWordsInsideTheBytesOnly() {
    let bytes: [UInt8] = Array(1...9)
    #expect(BulkBytes.bigEndianWord(in: bytes.span, at: 0) == 0x0102_0304_0506_0708)
    #expect(BulkBytes.bigEndianWord(in: bytes.span, at: 1) == 0x0203_0405_0607_0809)
    for offset in [-1, 2, 9, 10] { #expect(BulkBytes.bigEndianWord(in: bytes.span, at: offset) == nil) }
    #expect(!BulkBytes.hasZeroByte(0x0101_0101_0101_0101) && !BulkBytes.hasZeroByte(.max))
    for byte in UInt64(0)..<8 { #expect(BulkBytes.hasZeroByte(.max ^ 0xFF << (8 * byte))) }
  }

  @Test func copiesOnlyRangesThatFit() {
    func copied(_ range: Range<Int>, at offset: Int, from source: [UInt8] = [1, 2, 3]) -> [UInt8]? {
      var target: [UInt8] = [9, 9, 9, 9]
      var span = target.mutableSpan
      return BulkBytes.copy(source.span, range, to: &span, at: offset) ? target : nil
    }
    #expect(copied(0..<3, at: 0) == [1, 2, 3, 9] && copied(0..<3, at: 1) == [9, 1, 2, 3])
    #expect(copied(1..<2, at: 3) == [9, 9, 9, 2] && copied(2..<2, at: 4) == [9, 9, 9, 9])
    #expect(copied(0..<3, at: 2) == nil && copied(0..<1, at: 4) == nil && copied(0..<0, at: 5) == nil)
    #expect(copied(0..<1, at: -1) == nil && copied(-1..<0, at: 0) == nil && copied(0..<4, at: 0) == nil)
    // There is no memory behind an empty span.
    var nothing = MutableSpan<UInt8>()
    #expect(BulkBytes.copy(Span<UInt8>(), 0..<0, to: &nothing, at: 0))
  }

  @Test(arguments: [0, 1, 31, 32, 33, 63, 64, 65]) func comparesEveryByte(_ count: Int) {
    let bytes = [UInt8](repeating: 5, count: count)
    let longer = bytes + [5]
    same(BulkBytes.areEqual(bytes, bytes.span), true)
    same(BulkBytes.areEqual(bytes, longer.span) || BulkBytes.areEqual(longer, bytes.span), false)
    for index in bytes.indices {
      var other = bytes
      other[index] = 4
      same(BulkBytes.areEqual(bytes, other.span), false)
    }
  }

  /// Blocks of 64 bytes, of which the last holds the length; the expected digests are another implementation's.
  @Test(arguments: [
    (0, "d41d8cd98f00b204e9800998ecf8427e"), (55, "8d24280288a696559fd8d5aa1b6d8c6e"),
    (56, "ef2c72b7254c92459e498eddd4ace573"), (63, "c4c8c6d513f4e1604eb18508a1769364"),
    (64, "a2fcb39a253b9b785b1f97518fa37683"), (65, "e49fe82d0bb12967a196c85de313e446"),
    (119, "1640deea49ebb258ec6ede18d4b2d2d7"), (120, "05f879f7b542a7ebf0605adff67d4423"),
    (128, "fe942895e9aae953f3e246e5fd00739d"), (200, "d96c89b9da43f6903ceaa14a7166a22e"),
  ]) func computesMD5OfEveryLength(_ count: Int, _ expected: String) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for step in [1, 3, 63, 64, 65, 200] {
      var digest = MD5()
      for start in stride(from: 0, to: count, by: step) {
        digest.append(bytes.span.extracting(start..<min(start + step, count)))
      }
      #expect(digest.finish().map { String(format: "%02x", $0) }.joined() == expected)
    }
  }
}
