// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

/// `max-errors=0`, with which WebCodecs finds out whether a chunk can be decoded: an access unit without a slice is an
/// error where it is one for libavcodec.
@Suite(.serialized) struct MaxErrorsZeroTests {
  /// An access unit without a slice.
  struct Chunk: Sendable, CustomTestStringConvertible {
    let name: String
    let codec: StreamCodec
    let bytes: [UInt8]
    let isError: Bool

    var testDescription: String { "\(codec) \(name)" }
  }

  static let chunks: [Chunk] = h264 + h265 + StreamCodec.allCases.flatMap(withoutNALUnits)

  private static let h264: [Chunk] = [
    Chunk(name: "AUD", codec: .h264, bytes: [0, 0, 0, 1, 9, 0xF0], isError: true),
    Chunk(name: "SEI", codec: .h264, bytes: [0, 0, 0, 1] + RepackStream.sei, isError: true),
    Chunk(name: "end of sequence", codec: .h264, bytes: [0, 0, 0, 1, 10], isError: false),
    Chunk(name: "end of stream", codec: .h264, bytes: [0, 0, 0, 1, 11], isError: true),
    Chunk(name: "filler", codec: .h264, bytes: [0, 0, 0, 1, 12, 0xFF, 0x80], isError: true),
    Chunk(name: "reserved", codec: .h264, bytes: [0, 0, 0, 1, 0x1E, 0x12, 0x34], isError: true),
  ]

  private static let h265: [Chunk] = [
    Chunk(name: "AUD", codec: .h265, bytes: [0, 0, 0, 1, 0x46, 1, 0x50], isError: false),
    Chunk(name: "SEI", codec: .h265, bytes: [0, 0, 0, 1, 0x4E, 1, 1, 1, 0, 0x80], isError: false),
    Chunk(name: "end of sequence", codec: .h265, bytes: [0, 0, 0, 1, 0x48, 1], isError: false),
    Chunk(name: "end of bitstream", codec: .h265, bytes: [0, 0, 0, 1, 0x4A, 1], isError: false),
    Chunk(name: "filler", codec: .h265, bytes: [0, 0, 0, 1, 0x4C, 1, 0xFF, 0x80], isError: false),
    Chunk(name: "reserved", codec: .h265, bytes: [0, 0, 0, 1, 0x60, 1, 0x34], isError: false),
  ]

  private static func withoutNALUnits(_ codec: StreamCodec) -> [Chunk] {
    [
      Chunk(name: "start code", codec: codec, bytes: [0, 0, 0, 1], isError: true),
      Chunk(name: "zeros", codec: codec, bytes: [UInt8](repeating: 0, count: 20), isError: true),
      Chunk(name: "garbage", codec: codec, bytes: [UInt8](repeating: 0x37, count: 40), isError: true),
    ]
  }

  @Test(arguments: chunks, ["isolation=none", "isolation=process"])
  func oneFailureEndsTheStreamWithMaxErrorsZero(_ chunk: Chunk, _ isolation: String) throws {
    let units = chunk.codec.accessUnits(in: try Clip.read("clip.\(chunk.codec)")).prefix(10)
    for place in [0, 5, units.count] {
      let harness = try decoder(chunk.codec, "max-errors=0 \(isolation)")
      for unit in units.prefix(place) { #expect(harness.push(unit) == 0) }
      #expect(harness.push(chunk.bytes) == (chunk.isError ? FlowError.error.rawValue : 0), "at \(place)")
      if !chunk.isError {
        for unit in units.dropFirst(place) { #expect(harness.push(unit) == 0) }
        harness.endOfStream()
      }
      let errors = harness.takeMessages().count { $0.contains("A picture could not be decoded") }
      #expect(errors == (chunk.isError ? 1 : 0), "at \(place)")
      // Pictures before the error are output.
      #expect(harness.received == (chunk.isError ? place : units.count), "at \(place)")
    }
  }

  /// Where errors are allowed, no picture is missed.
  @Test(arguments: chunks, [1, 20, -1])
  func toleratedFailuresLoseNoPicture(_ chunk: Chunk, _ limit: Int) throws {
    let units = chunk.codec.accessUnits(in: try Clip.read("clip.\(chunk.codec)")).prefix(10)
    let harness = try decoder(chunk.codec, "max-errors=\(limit)")
    for unit in units.prefix(5) + [chunk.bytes] + units.dropFirst(5) { #expect(harness.push(unit) == 0) }
    harness.endOfStream()
    #expect(harness.received == units.count)
  }

  /// Neither a picture before the first random access point nor one without its references is an error.
  @Test(arguments: StreamCodec.allCases, ["isolation=none", "isolation=process"])
  func aMissingReferenceIsNoFailure(_ codec: StreamCodec, _ isolation: String) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    for start in [1, 4] {
      let harness = try decoder(codec, "max-errors=0 \(isolation)")
      // The parameter sets come with a picture that is not there.
      let sets = Clip.nalUnits(units[0]).filter {
        codec == .h264 ? 7...8 ~= $0[0] & 31 : 32...34 ~= $0[0] >> 1
      }
      let rest = [RepackStream.annexB(sets + Clip.nalUnits(units[start]))] + units.dropFirst(start + 1)
      for unit in rest { #expect(harness.push(unit) == 0) }
      harness.endOfStream()
      #expect(harness.takeMessages().allSatisfy { !$0.contains("could not be decoded") })
      #expect(harness.received > 0)
    }
  }

  private func decoder(_ codec: StreamCodec, _ properties: String) throws -> Harness {
    let harness = try Harness.decoder(
      "\(codec.element)dec \(properties)", input: "\(codec.mediaType), stream-format=byte-stream, alignment=au")
    harness.collectMessages()
    return harness
  }
}
