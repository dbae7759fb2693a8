// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import TestSupport

/// A mishap that happens to the input.
enum RecordedTwist: String, CaseIterable, Sendable {
  /// A flush in the middle, then the whole stream.
  case flush
  /// A segment that begins at one second, in the middle.
  case segment
  /// Another stream of the same caps, from the middle on.
  case stream
  /// Another clip with its caps, from the middle on.
  case splice
  /// Gap events, and discontinuities.
  case gaps
  /// Damaged bytes.
  case bits
  /// Missing and truncated buffers.
  case loss
  /// Garbage before and between buffers, and empty buffers.
  case garbage
  /// Two access units in one buffer.
  case pairs
  /// A segment for reverse playback.
  case backwards
  /// A trick mode without B-frames.
  case forwardPredicted
  /// Force-key-unit events from both sides.
  case keyUnits
  /// Downstream changes its caps in the middle.
  case reconfigure

  /// Pushes the stream into an element.
  ///
  /// - Parameters:
  ///   - other: the second stream of a splice.
  ///   - wish: the caps that downstream changes to.
  /// - Returns: the flow return of the last push.
  func push(_ stream: RecordedStream, _ other: RecordedStream, wish: String, into harness: Harness) -> Int32 {
    let middle = stream.pieces.count / 2
    let (front, back) = (Array(stream.pieces[..<middle]), Array(stream.pieces[middle...]))
    var flow: Int32 = 0
    func push(_ pieces: [RecordedStream.Piece]) {
      for piece in pieces { flow = harness.push(piece.buffer) }
    }
    switch self {
    case .flush:
      push(front)
      harness.flush()
      push(stream.pieces)
    case .segment:
      push(front)
      harness.push(Self.segment(start: .second))
      push(back)
    case .stream:
      push(front)
      harness.push(unsafe Event(owning: gst_event_new_stream_start("another")))
      if let caps = Caps(parsing: stream.caps) { harness.push(Event.caps(caps)) }
      harness.push(Self.segment())
      push(back)
    case .splice:
      push(front)
      harness.setInputCaps(other.caps)
      push(other.pieces)
    case .gaps:
      push(front)
      harness.push(unsafe Event(owning: gst_event_new_gap(2_000_000_000, 40_000_000)))
      for (index, piece) in back.enumerated() {
        var late = piece
        if index % 5 == 0 { late.flags.insert(.discontinuity) }
        flow = harness.push(late.buffer)
      }
    case .bits: push(Self.damaged(stream.pieces))
    case .loss: push(Self.thinned(stream.pieces))
    case .garbage:
      for (index, piece) in stream.pieces.enumerated() {
        if index % 4 == 0 { flow = harness.push([0x47, 0, 0, 2, 0xFF, UInt8(truncatingIfNeeded: index)]) }
        if index % 7 == 3 { flow = harness.push([]) }
        flow = harness.push(piece.buffer)
      }
    case .pairs:
      for index in stride(from: 0, to: stream.pieces.count, by: 2) {
        var pair = stream.pieces[index]
        if index + 1 < stream.pieces.count { pair.bytes += stream.pieces[index + 1].bytes }
        flow = harness.push(pair.buffer)
      }
    case .backwards:
      harness.push(Self.segment(rate: -1))
      push(stream.pieces)
    case .forwardPredicted:
      harness.push(Self.segment(flags: GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED))
      push(stream.pieces)
    case .keyUnits:
      push(front)
      harness.pushUpstream(
        unsafe Event(owning: gst_video_event_new_upstream_force_key_unit(GstClockTime.max, 1, 3)))
      harness.push(
        unsafe Event(
          owning: gst_video_event_new_downstream_force_key_unit(0, 0, GstClockTime(1_000_000_000), 1, 5)))
      push(back)
    case .reconfigure:
      push(front)
      harness.setOutputCaps(wish)
      harness.pushUpstream(.reconfigure())
      push(back)
    }
    return flow
  }

  private static func segment(
    start: ClockTime = .zero, rate: Double = 1, flags: GstSegmentFlags = GST_SEGMENT_FLAG_NONE
  ) -> Event {
    var segment = GstSegment()
    unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
    (segment.rate, segment.flags) = (rate, flags)
    (segment.start, segment.time) = (guint64(start.nanoseconds), guint64(start.nanoseconds))
    if rate < 0 { segment.stop = 10_000_000_000 }
    return unsafe Event(owning: gst_event_new_segment(&segment))
  }

  /// Changes about one byte of 400, except in the first buffer.
  private static func damaged(_ pieces: [RecordedStream.Piece]) -> [RecordedStream.Piece] {
    var generator = SeededGenerator(state: 26)
    return pieces.enumerated().map { index, piece in
      var piece = piece
      guard index > 0 else { return piece }
      for _ in 0...(piece.bytes.count / 400) where !piece.bytes.isEmpty && generator.next() % 3 > 0 {
        let place = Int(generator.next() % UInt64(piece.bytes.count))
        piece.bytes[place] ^= UInt8(1) << (generator.next() % 8)
      }
      return piece
    }
  }

  private static func thinned(_ pieces: [RecordedStream.Piece]) -> [RecordedStream.Piece] {
    var generator = SeededGenerator(state: 264)
    return pieces.enumerated().compactMap { index, piece in
      guard index > 0 else { return piece }
      switch generator.next() % 8 {
      case 0: return nil
      case 1:
        var piece = piece
        piece.bytes.removeLast(Int(generator.next() % UInt64(max(piece.bytes.count, 1))))
        return piece
      default: return piece
      }
    }
  }
}
