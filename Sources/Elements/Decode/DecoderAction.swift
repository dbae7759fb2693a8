// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The base class's `system_frame_number` of a frame.
typealias FrameNumber = UInt32

/// A step that the element performs for its core between two accesses to it.
///
/// All cases but the first call the base class, other elements or the application, which may call back into the
/// element before they return.
enum DecoderAction<Codec: DecoderCodec> {
  /// Lend the bytes of the frame, with the base class's information about it: `decode(_:as:)`.
  case decode(FrameNumber)
  /// Add the bytes of these frames to another frame's bytes, and release them.
  case join([FrameNumber], to: FrameNumber)
  /// Query which raw video downstream accepts, then call `plan(allowed:)`.
  case askDownstream
  /// Negotiate the output's proposal, then call `negotiated(pool:)` or `negotiationFailed()`.
  case negotiate
  /// Push the picture as the output of the frame.
  case finish(FrameNumber, DecodedPicture)
  /// Drop the frame, with a QoS message. Others that are shown earlier may follow: results without a picture do not
  /// come in output order.
  case drop(FrameNumber)
  /// Release the frame, with no QoS message.
  case release(FrameNumber)
  /// Request a random access point from upstream on behalf of the frame.
  case requestSyncPoint(FrameNumber)
  /// Look up the frame's PTS, then call `failed(_:number:pts:)`.
  case reportFailure(FrameNumber, DecodeError)
  /// Set the latency that is reported to the pipeline.
  case setLatency(ClockTime)
  /// Post a warning.
  case warn(DecoderMessage<Codec>)
  /// Post an error; data flow ends.
  case fail(DecoderMessage<Codec>)
  /// Write to the debug log.
  case log(Log.Level, String)
}

/// The way to decode a frame, by the state of the base class when its turn has come.
struct FrameRequest {
  /// Upstream has marked it as a random access point.
  var isSyncPoint = true
  /// The time at which it is shown.
  var pts: ClockTime?
  /// The duration: a field, half as long as its frame.
  var duration: ClockTime?
  /// Upstream has marked its bytes as damaged.
  var isDamaged = false
  /// It would be shown too late.
  var isLate = false
  /// The pictures that playback needs.
  var trickMode = TrickMode()
  /// It is no random access point, and only these are decoded. Its picture may complete one that is coded in two
  /// fields.
  var isLeftOut: Bool { trickMode.keyUnitsOnly && !isSyncPoint }
  /// Reverse playback: pictures go downstream a group at a time, backwards, when all of it is decoded.
  var isReverse = false
}
