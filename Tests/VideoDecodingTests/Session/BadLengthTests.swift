// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

/// Length-prefixed access units with something behind the last NAL unit.
@Suite struct BadLengthTests {
  /// Bytes that are no NAL unit change nothing. Ones that may be the beginning of a slice mean that the picture is
  /// incomplete.
  @Test(arguments: ["small-slices.h264", "clip.h264", "clip.h265"], [NALLengthSize.two, .four])
  func decodesNALUnitsBeforeABadLength(_ name: String, _ size: NALLengthSize) throws {
    let stream = try CodedStream(name)
    var format = stream.format
    format.nalLengthSize = size
    let packets = stream.units.map { lengthPrefixed($0, size) }
    let slice: [UInt8] = format.codec == .h264 ? [0x41, 0x9A] : [0x02, 0x01]
    let ends: [(bytes: [UInt8], isSlice: Bool)] = [
      ([0xDE, 0xAD, 0xBE, 0xEF, 0x55], false), ([UInt8](repeating: 0, count: 5), false),
      ([UInt8](repeating: 0, count: 8), false),
      ([UInt8](repeating: 0, count: size.byteCount - 2) + [1, 0x20] + slice, true),
    ]
    let expected = try CodedStream(units: packets, format: format).decode()
    #expect(expected.frames.count == packets.count)
    for end in ends {
      let damaged = Set(stride(from: 3, to: packets.count, by: 7))
      let units = packets.enumerated().map { damaged.contains($0.offset) ? $0.element + end.bytes : $0.element }
      let run = try CodedStream(units: units, format: format).decode()
      #expect(run.checksums == expected.checksums, "\(end)")
      #expect(run.failures.isEmpty)
      let flagged = Set(run.frames.filter(\.isCorrupt).map(\.tag))
      #expect(end.isSlice ? damaged.isSubset(of: flagged.map(Int.init)) : flagged.isEmpty, "\(end)")
    }
  }
}
