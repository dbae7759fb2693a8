// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Every byte stream of the vectors and every edit.
@Suite struct EditedVectorTests {
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func editsVectorsOfH264Exactly(_ row: Vectors.Row) throws { try edit(row, H264.self) }

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "hevc", container: "annexb"))
  func editsVectorsOfH265Exactly(_ row: Vectors.Row) throws { try edit(row, H265.self) }

  private func edit<Codec: EditedCodec>(_ row: Vectors.Row, _: Codec.Type) throws {
    let stream = try Vectors.bytes(row.file)
    let headers = headerStream(stream, Codec.self)
    var editor = StreamEditor<Codec>([.fullRange(true)])
    _ = try editor.edited(headers)
    // Three streams have no SPS, or none that can be read.
    guard editor.lastUnreadable == nil, headers.count > 0 else {
      #expect(row.file.contains("membrane_input"))
      return
    }
    for item in EditCase<Codec>.all {
      try expectEdited(headers, item, row.file)
    }
    try expectUntouched(stream, EditCase<Codec>.all.map(\.edit), Codec.self, row.file)
  }

  /// The parameter sets of a stream with their start codes.
  private func headerStream<Codec: EditedCodec>(_ stream: [UInt8], _: Codec.Type) -> [UInt8] {
    var result: [UInt8] = []
    var units = AnnexB.NALUnits(stream.span)
    var position = 0
    while let unit = units.next() {
      if Codec.NALUnitType(headerByte: stream[unit.range.lowerBound]).isParameterSet {
        result += stream[position..<unit.range.upperBound]
      }
      position = unit.range.upperBound
      if result.count > 100_000 { break }
    }
    return result
  }

  private func expectEdited<Codec: EditedCodec>(_ stream: [UInt8], _ item: EditCase<Codec>, _ file: String) throws {
    var editor = StreamEditor<Codec>([item.edit])
    let edited = try editor.edited(stream)
    let (before, after) = (nalUnits(stream), nalUnits(edited))
    try #require(before.count == after.count)
    var inverses: Set<StreamEdit?> = []
    for (old, new) in zip(before, after)
    where Codec.NALUnitType(headerByte: old[0]).rawValue == Codec.spsType && isBaseLayer(old, Codec.self) {
      let (oldValues, newValues) = (try Codec.trace(sps: old), try Codec.trace(sps: new))
      for (name, value) in item.expected(oldValues) {
        #expect(newValues[name] == value, "\(file): \(name) after \(item.edit)")
      }
      inverses.insert(item.inverse(oldValues))
    }
    // The inverse of a stream whose sets differ is not one edit.
    guard inverses.count == 1, case let inverse?? = inverses.first else { return }
    var back = StreamEditor<Codec>([inverse])
    #expect(try back.edited(edited) == stream, "\(file): \(inverse) does not undo \(item.edit)")
  }

  private func isBaseLayer<Codec: EditedCodec>(_ nalUnit: [UInt8], _: Codec.Type) -> Bool {
    Codec.nalUnitHeaderLength == 1 || nalUnit[0] & 1 == 0 && nalUnit[1] < 8
  }

  /// Everything but parameter sets comes out byte for byte, as do start codes and what is between NAL units.
  private func expectUntouched<Codec: EditedCodec>(
    _ stream: [UInt8], _ edits: [StreamEdit], _: Codec.Type, _ file: String
  ) throws {
    var editor = StreamEditor<Codec>(edits)
    let edited = try editor.edited(stream)
    #expect(edited != stream, "\(file)")
    #expect(withoutEditable(edited, Codec.self) == withoutEditable(stream, Codec.self), "\(file)")
    var nothing = StreamEditor<Codec>([])
    #expect(try nothing.edit(stream.span, packaging: .annexB) == nil)
    var again = StreamEditor<Codec>(edits)
    let last = try again.edited(edited)
    #expect(last == edited, "\(file): the same edits twice")
  }

  /// The stream with each VPS, SPS and subset SPS cut down to its first byte.
  private func withoutEditable<Codec: EditedCodec>(_ stream: [UInt8], _: Codec.Type) -> [UInt8] {
    var result: [UInt8] = []
    var units = AnnexB.NALUnits(stream.span)
    var position = 0
    while let unit = units.next() {
      let type = Codec.NALUnitType(headerByte: stream[unit.range.lowerBound]).rawValue
      guard [Codec.spsType, 15, 32].contains(type), Codec.spsType == 33 || type != 32 else { continue }
      result += stream[position...unit.range.lowerBound]
      position = unit.range.upperBound
    }
    return result + stream[position...]
  }
}

extension StreamEditor {
  /// A byte stream after the edits.
  mutating func edited(_ stream: [UInt8]) throws(StreamEditError) -> [UInt8] {
    try edit(stream.span, packaging: .annexB) ?? stream
  }
}
