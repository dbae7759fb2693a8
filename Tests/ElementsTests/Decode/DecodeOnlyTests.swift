// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// `DECODE_ONLY` on input, which applications leave on access units of an earlier seek. The segment decides alone which
/// pictures are output, as with libavcodec's own elements.
@Suite(.serialized) struct DecodeOnlyTests {
  @Test(arguments: StreamCodec.allCases, ["isolation=none", "isolation=process"])
  func decodeOnlyFlagDoesNotChangeTheOutput(_ codec: StreamCodec, _ isolation: String) throws {
    let units = codec.accessUnits(in: try Clip.read("clip.\(codec)"))
    for segment in [nil, 0..<units.count, 10..<40, 31..<32] {
      let expected = try decode(units, of: codec, flagging: 0..<0, segment, isolation)
      #expect(expected.count == segment?.count ?? units.count)
      let flags = [0..<1, 0..<5, 3..<4, 10..<25, 0..<units.count, units.count - 1..<units.count]
      for flagged in TestScope.rows(flags, usually: 2) {
        let pictures = try decode(units, of: codec, flagging: flagged, segment, isolation)
        #expect(pictures == expected, "\(flagged) of \(String(describing: segment))")
      }
    }
  }

  /// PTS and content of each picture.
  private struct Shown: Equatable {
    let pts: ClockTime?
    let content: Int
  }

  /// - Parameters:
  ///   - flagged: positions in decoding order that get the flag.
  ///   - segment: pictures inside the segment; nil for all.
  private func decode(
    _ units: [[UInt8]], of codec: StreamCodec, flagging flagged: Range<Int>, _ segment: Range<Int>?, _ isolation: String
  ) throws -> [Shown] {
    let harness = try Harness.decoder(
      "\(codec.element)dec max-threads=2 \(isolation)",
      input: "\(codec.mediaType), stream-format=byte-stream, alignment=au")
    if let segment {
      var event = GstSegment()
      unsafe gst_segment_init(&event, GST_FORMAT_TIME)
      event.start = guint64(Clip.time(segment.lowerBound).nanoseconds)
      event.stop = guint64(Clip.time(segment.upperBound).nanoseconds)
      #expect(harness.push(unsafe Event(owning: gst_event_new_segment(&event))))
    }
    let positions = codec.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      guard var buffer = Buffer(copying: unit.span) else { continue }
      buffer.pts = Clip.time(positions[index])
      buffer.duration = Clip.frameDuration
      if flagged.contains(index) { buffer.flags.insert(.decodeOnly) }
      // Behind the segment's end the base class returns the end of the stream.
      _ = harness.push(buffer)
    }
    harness.endOfStream()
    return try harness.takePictures().map { Shown(pts: $0.pts, content: $0.fingerprint) }
  }
}
