// SPDX-License-Identifier: MPL-2.0
import Foundation
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Conformance vectors: the number of pictures in the manifest, and all bytes.
@Suite(.serialized, .enabled(if: Vectors.isAvailable, "no conformance vectors"))
struct H265ParseVectorTests {
  /// The output access units, with NAL unit alignment assembled by their markers.
  private func accessUnits(_ bytes: [UInt8], alignment: String, pieces: [Int]) throws -> [[UInt8]] {
    let harness = try Harness.parseH265(
      from: "video/x-h265, stream-format=byte-stream", to: "stream-format=byte-stream, alignment=\(alignment)")
    var (offset, turn) = (0, 0)
    while offset < bytes.count {
      let end = min(bytes.count, offset + pieces[turn % pieces.count])
      #expect(harness.push(Array(bytes[offset..<end])) == 0)
      (offset, turn) = (end, turn + 1)
    }
    harness.endOfStream()
    var units: [[UInt8]] = []
    var continues = false
    while let buffer = harness.tryPull() {
      let bytes = try buffer.copiedBytes()
      if continues { units[units.count - 1] += bytes } else { units.append(bytes) }
      continues = alignment == "nal" && !buffer.flags.contains(.marker)
    }
    return units
  }

  private func nalUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var units = AnnexB.NALUnits(bytes.span)
    while let unit = units.next() { result.append(Array(bytes[unit.range])) }
    return result
  }

  /// The NAL units of each access unit without delimiters, which the parser inserts.
  private func withoutDelimiters(_ units: [[UInt8]]) -> [[[UInt8]]] {
    units.map { unit in nalUnits(unit).filter { nalUnit in nalUnit[0] >> 1 != 35 } }
  }

  @Test(arguments: Vectors.rows(codec: "hevc").filter { $0.container == "annexb" })
  func outputsEveryAccessUnit(_ vector: Vectors.Row) throws {
    let bytes = try Vectors.bytes(vector.file)
    let whole = try accessUnits(bytes, alignment: "au", pieces: [bytes.count])
    #expect(whole.count == vector.accessUnits)
    let found: [[UInt8]] = withoutDelimiters(whole).flatMap { $0 }
    let given: [[UInt8]] = withoutDelimiters([bytes])[0]
    // One vector has no parameter sets.
    #expect(found == given || vector.accessUnits == 0)
    let pieces = try accessUnits(bytes, alignment: "au", pieces: [1, 4093, 3, 17, 70_001])
    #expect(pieces == whole)
    for sizes in [[bytes.count], [2, 7919, 5]] {
      let cut = try accessUnits(bytes, alignment: "nal", pieces: sizes)
      #expect(withoutDelimiters(cut) == withoutDelimiters(whole))
    }
  }
}
