// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct NALPackagingTests {
  /// A NAL unit too long for the length prefix is an error, and nothing is written; the longest one that fits is
  /// written.
  @Test(arguments: [(NALLengthSize.one, 0xFF), (.two, 0xFFFF)])
  func lengthsThatDoNotFitAreErrors(_ size: NALLengthSize, _ longest: Int) throws {
    let packaging = NALPackaging.lengthPrefixed(size)
    #expect(size.maximumNALUnitLength == longest)
    var bytes: [UInt8] = [9]
    let error = failure { () throws(BitstreamError) in
      try packaging.append([UInt8](repeating: 1, count: longest + 1).span, to: &bytes)
    }
    #expect(error?.reason == .lengthNotRepresentable && error?.bitOffset == 8 && bytes == [9])
    let nalUnit = [UInt8](repeating: 2, count: longest)
    try packaging.append(nalUnit.span, to: &bytes)
    #expect(bytes == [9] + [UInt8](repeating: 0xFF, count: size.byteCount) + nalUnit)
  }

  @Test func prefixesAreBigEndian() throws {
    let nalUnit = [UInt8](repeating: 7, count: 0x102)
    for (packaging, prefix) in [
      (.annexB, [0, 0, 0, 1]), (.lengthPrefixed(.four), [0, 0, 1, 2]), (.lengthPrefixed(.two), [1, 2]),
    ] as [(NALPackaging, [UInt8])] {
      var bytes: [UInt8] = []
      try packaging.append(nalUnit.span, to: &bytes)
      #expect(bytes == prefix + nalUnit && packaging.prefixLength == prefix.count)
    }
  }

  /// Empty NAL units are passed over, also where the packet ends with one; a length that is cut off is an error.
  @Test(arguments: NALLengthSize.allCases) func readsPacketsUpToTheLastNALUnit(_ size: NALLengthSize) throws {
    let empty = [UInt8](repeating: 0, count: size.byteCount)
    let one: [UInt8] = empty.dropLast() + [2, 7, 8]
    for (packet, expected) in [
      ([], []), (empty, []), (one, [7]), (one + empty, [7]), (empty + one + one, [7, 7]),
    ] as [([UInt8], [UInt8])] {
      var units = LengthPrefixed.NALUnits(packet.span, lengthSize: size)
      var first: [UInt8] = []
      while let range = try units.next() {
        first.append(packet[range.lowerBound])
        same(range.count, 2)
      }
      #expect(first == expected)
      same(units.position, packet.count)
    }
    for missing in 1..<max(2, size.byteCount) where size != .one {
      let packet = one + empty.dropLast(missing)
      var units = LengthPrefixed.NALUnits(packet.span, lengthSize: size)
      let error = failure { () throws(BitstreamError) in while try units.next() != nil {} }
      #expect(error == BitstreamError(.truncated, "NALUnitLength", bitOffset: one.count * 8))
    }
    for offset in [-1, 0] {
      var units = LengthPrefixed.NALUnits(one.span, lengthSize: size, from: offset)
      let range = try units.next()
      #expect(range == size.byteCount..<one.count)
    }
    var units = LengthPrefixed.NALUnits(one.span, lengthSize: size, from: one.count + 1)
    let none = try units.next()
    #expect(none == nil)
  }

  @Test func refusesToWriteWithoutRoom() {
    for size in NALLengthSize.allCases {
      for offset in [-1, 4, 5 - size.byteCount, Int.max] {
        var bytes: [UInt8] = [1, 2, 3, 4]
        var output = bytes.mutableSpan
        let error = failure { () throws(BitstreamError) in try size.write(1, to: &output, at: offset) }
        #expect(error?.reason == .outputTooSmall)
        #expect(bytes == [1, 2, 3, 4])
      }
    }
    var bytes: [UInt8] = [1, 2, 3]
    var output = bytes.mutableSpan
    let error = failure { () throws(BitstreamError) in
      try NALPackaging.annexB.writePrefix(length: 1, to: &output, at: 0)
    }
    #expect(error?.reason == .outputTooSmall && bytes == [1, 2, 3])
  }

  /// Lengths beyond what memory can hold, as 32-bit machines meet them at 2^31.
  @Test func hugeLengthsPointPastTheEnd() {
    for first: UInt8 in [0x7F, 0x80, 0xFF] {
      let packet: [UInt8] = [0, 0, 0, 1, 9, first, 0xFF, 0xFF, 0xFF, 1]
      var units = LengthPrefixed.NALUnits(packet.span, lengthSize: .four)
      let error = failure { () throws(BitstreamError) in while try units.next() != nil {} }
      #expect(error?.reason == .lengthOutOfBounds && error?.bitOffset == 40)
      same(units.position, 5)
    }
  }

  @Test(arguments: NALLengthSize.allCases) func checksLengths(_ size: NALLengthSize) {
    let most = size.maximumNALUnitLength
    for offset in [0, 3] {
      func error(_ length: Int) -> BitstreamError? {
        failure { () throws(BitstreamError) in
          try offset == 0 ? size.check(length) : size.check(length, at: offset)
        }
      }
      let wrong = BitstreamError(.lengthNotRepresentable, "NALUnitLength", bitOffset: offset * 8)
      #expect(error(0) == nil && error(most) == nil)
      if most < Int.max { #expect(error(most + 1) == wrong) }
    }
  }

  /// Dropped NAL units stay counted when start codes are repaired.
  @Test func droppedUnitsAreCountedBeyondARepair() throws {
    var repackager = Repackager(codec: .h264)
    repackager.drop = NALUnitTypeSet([9])
    let packet: [UInt8] = [0, 0, 0, 2, 9, 0xF0, 0, 0, 0, 8, 0x41, 1, 0, 0, 1, 0x41, 2, 3]
    try repackager.scanLengthPrefixed(packet.span, lengthSize: .four)
    #expect(repackager.entries.count == 1 && repackager.droppedCount == 1)
    let found = repackager.repairStartCodes(in: packet.span)
    #expect(found == 1 && repackager.droppedCount == 1)
    #expect(repackager.entries.map(\.range) == [10..<12, 15..<18])
    #expect(repackager.repairStartCodes(in: packet.span) == 0)
  }

  @Test func dropsPartsInOrder() {
    var repackager = Repackager(codec: .h264)
    let stream: [UInt8] = (1...6).flatMap { [0, 0, 1, $0, 0x55] as [UInt8] }
    repackager.scanAnnexB(stream.span)
    repackager.drop([0..<5, 10..<20, 29..<30])
    #expect(repackager.entries.map(\.type) == [2, 5, 6] && repackager.droppedCount == 3)
    repackager.scanAnnexB(stream.span)
    repackager.drop([])
    #expect(repackager.entries.count == 6)
    repackager.drop([0..<30])
    #expect(repackager.entries.isEmpty && repackager.droppedCount == 6)
  }

  /// H.265 has the type in other bits.
  @Test func readsTypesOfTheCodec() throws {
    let stream: [UInt8] = [0, 0, 1, 0x46, 0x01, 0x50, 0, 0, 1, 0x26, 0x01, 0xAF]
    var repackager = Repackager(codec: .h265)
    repackager.scanAnnexB(stream.span)
    #expect(repackager.entries.map(\.type) == [35, 19])
    // NAL units are inserted after the delimiter.
    var output = [UInt8](repeating: 0, count: 20)
    var span = output.mutableSpan
    let size = try repackager.write(stream.span, as: .annexB, inserting: [[0x40, 0x01]], to: &span)
    #expect(Array(output[..<size]) == [0, 0, 0, 1, 0x46, 1, 0x50, 0, 0, 0, 1, 0x40, 1, 0, 0, 0, 1, 0x26, 1, 0xAF])
  }

  /// Parameter sets are compared 32 bytes at a time: a difference at any offset is found.
  @Test(arguments: [31, 32, 33, 64, 100]) func findsADifferenceAtAnyOffset(_ length: Int) throws {
    let base = Samples.highSPS + [UInt8](repeating: 0, count: length - Samples.highSPS.count)
    var sets = H264.ParameterSets()
    try sets.insert(bytes: base)
    for index in Samples.highSPS.count..<length {
      var changed = base
      changed[index] = 1
      #expect(try sets.insert(bytes: changed) == .replaced)
      #expect(try sets.insert(bytes: changed) == .unchanged)
      #expect(try sets.insert(bytes: base) == .replaced)
    }
  }
}
