// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The part of the streams beside the video that is kept, in nanoseconds of their media.
struct OtherStreamSpan {
  let start: Int64
  /// Whether packets in front of the start are kept too, unless the source hides them.
  let isOpen: Bool
  /// `nil` for the end of the file. Later if the last picture ends later.
  var end: Int64?
  /// Whether sound in front of the start is hidden by the target, so that its decoder may begin earlier.
  let hidesFront: Bool
  /// Whether other ranges of the copy are in front of it, whose last packet of sound may end near the start.
  let isBehindOthers: Bool
  /// Whether the target has priming of Opus in front of time 0.
  let hasPriming: Bool

  /// Streams of the file are read so much further for packets that come late, in nanoseconds.
  private static let lateness: Int64 = 10_000_000_000

  /// No usual frame of sound lasts longer, in nanoseconds.
  private static let longestFrame: Int64 = 100_000_000

  /// The time behind which no packet of the part comes.
  var readingEnd: Int64 { end?.addingReportingOverflow(Self.lateness).partialValue ?? .max }

  /// The time up to which packets are in the part, wherever the last picture ends.
  var settledEnd: Int64 { end.map { $0 &- Self.longestFrame } ?? .max }

  /// Reduces a packet to the part that is kept. Returns whether there is any.
  func clip(_ packet: inout OtherStreams.Packet) -> Bool {
    let (stream, base) = (packet.stream, packet.stream.timeBase)
    guard let begin = packet.packet.presentation ?? packet.packet.decoding else { return true }
    let first = base.rescaled(start, from: .nanoseconds)
    let last = end.map { base.rescaled($0, from: .nanoseconds) }
    let duration = max(packet.packet.duration, 0)
    guard last.map({ begin < $0 }) ?? true else { return false }
    if isOpen, stream.kind != .subtitle, hidesFront || !packet.isHidden { return true }
    switch stream.kind {
    case .audio:
      let lead = base.rescaled(
        lead(stream.codecName, priming: stream.priming, base.nanoseconds(duration)), from: .nanoseconds)
      // It would be heard, except in front of the start.
      if packet.isHidden, !hidesFront { return begin < first && begin >= first &- lead }
      // A whole packet, if nothing hides its front. If it has no duration, too much is hidden rather than too little.
      // Behind another range, one that begins in front of the start may be the nearest.
      let length = duration > 0 ? duration : base.rescaled(Self.longestFrame, from: .nanoseconds)
      return hidesFront || isBehindOthers ? begin &+ length > first &- lead : begin >= first &- lead
    case .subtitle:
      guard begin >= first || begin &+ duration > first else { return false }
      let (clippedBegin, clippedEnd) = (max(begin, first), min(begin &+ duration, last ?? .max))
      packet.packet.presentation = clippedBegin
      packet.packet.decoding = clippedBegin
      if duration > 0 { packet.packet.duration = clippedEnd &- clippedBegin }
      return true
    default: return begin >= first
    }
  }

  /// How much earlier a decoder of sound begins, for correct output at the start. The first frame overlaps the frames
  /// before it, or takes bits from them.
  ///
  /// - Parameters:
  ///   - codec: libavcodec's name of it.
  ///   - samples: of priming.
  ///   - duration: of a frame, from 0 to any number that a file has.
  func lead(_ codec: String, priming samples: Int, _ duration: Int64) -> Int64 {
    let priming = hasPriming && codec == "opus" ? Int64(samples) * 1_000_000_000 / 48_000 : 0
    guard hidesFront else { return priming }
    return switch codec {
    case "opus": 80_000_000
    case "mp3": 3 * min(duration, Self.longestFrame)
    case "aac", "aac_latm", "ac3", "eac3", "mp2", "vorbis": duration
    default: 0
    }
  }
}
