// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The way to decode a frame, by the state of the base class when its turn has come.
struct FrameRequest {
  /// The request to the session, whose results have the frame's number as their tag.
  var decoding: DecodeRequest
  /// Upstream has marked it as a random access point.
  var isSyncPoint = true
  /// It would be shown too late.
  var isLate = false
  /// The pictures that playback needs.
  var trickMode = TrickMode()
  /// Reverse playback: pictures go downstream a group at a time, backwards, when all of it is decoded.
  var isReverse = false
}

extension DecodeRequest {
  /// - Parameters:
  ///   - pts: the time at which it is shown.
  ///   - duration: of a field, half of its frame's.
  init(_ number: FrameNumber, pts: ClockTime?, duration: ClockTime?) {
    let time = { (time: ClockTime) in Duration.nanoseconds(Int64(clamping: time.nanoseconds)) }
    self.init(tag: UInt64(number), time: pts.map(time), duration: duration.map(time))
  }
}
