// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

/// Both fields of a frame are in one sample of MP4 and Matroska.
@Suite("Rules: two fields in a sample") struct FieldPairTests {
  /// Pairs of an I and a P field, with a delimiter in front of each field.
  private static var stream: TestStream {
    var stream = TestStream(.init(level: 30, references: 4, isFrameOnly: false))
    let sets = stream.nalUnits.prefix(2)
    stream.nalUnits = []
    for frame in 0..<3 as Range<UInt32> {
      for isBottom in [false, true] {
        stream.nalUnits.append([9, isBottom ? 0x30 : 0x10])
        if frame == 0, !isBottom { stream.nalUnits += sets }
        stream = stream.adding(
          .init(
            isIDR: frame == 0 && !isBottom, type: isBottom ? 0 : 2, frameNumber: frame,
            order: 2 * frame + (isBottom ? 1 : 0), isInterlaced: true, isBottom: isBottom))
      }
    }
    return stream
  }

  private static func units(_ bytes: [UInt8]) throws -> [AccessUnitRecord] {
    try report(bytes).compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
  }

  /// An MP4 with two delimiters and two slices a sample.
  private static var file: MP4TestFile {
    var file = MP4TestFile(stream)
    file.samples = (0..<3).map { Array(file.samples[4 * $0..<4 * $0 + 4].joined()) }
    file.offsets = [0, 0, 0]
    file.height = 64
    return file
  }

  @Test("Two fields in a sample are a pair with the type of the first field")
  func aFieldPairHasTheTypeOfItsFirstField() throws {
    // Some decoders do not take interlaced streams.
    #expect(try findings(Self.file.bytes).map(\.rule) == [.decoderFormat])
    let pairs = try Self.units(Self.file.bytes)
    #expect(pairs.map(\.isField) == [true, true, true])
    #expect(pairs.map(\.isFieldPair) == [true, true, true])
    #expect(pairs.map(\.isSecondField) == [false, false, false])
    #expect(pairs.map(\.keyframe) == [.idr, .none, .none])
    // The same in a byte stream.
    #expect(try findings(Self.stream.bytes).map(\.rule) == [.decoderFormat])
    let fields = try Self.units(Self.stream.bytes)
    #expect(fields.map(\.isSecondField) == [false, true, false, true, false, true])
    #expect(fields.allSatisfy { !$0.isFieldPair })
    var lines = JSONLines()
    for unit in [pairs[0], fields[0], fields[1]] { lines.append(.accessUnit(unit)) }
    let text = String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n")
    for (line, kind) in zip(text, ["pair", "first", "second"]) { #expect(line.contains("\"field\":\"\(kind)\"")) }
  }

  @Test("A delimiter after the picture is found in a sample too")
  func findsADelimiterAfterThePictureOfASample() throws {
    var file = Self.file
    file.samples[1] += MP4TestFile.prefixed([9, 0x10])
    #expect(try findings(file.bytes).map(\.rule) == [.decoderFormat, .order])
  }
}
