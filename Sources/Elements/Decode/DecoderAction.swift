// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The base class's `system_frame_number` of a frame.
typealias FrameNumber = UInt32

/// What the element does for its core between two accesses to it.
///
/// All but the first call the base class, other elements or the application, which may call back into the element
/// before they return.
enum DecoderAction<Codec: DecoderCodec> {
  /// Lend the bytes of the frame, with the base class's information about it: `decode(_:as:)`.
  case decode(FrameNumber)
  /// Add the bytes of these frames to those of another frame, and release them.
  case join([FrameNumber], to: FrameNumber)
  /// Query which raw video downstream accepts, then call `plan(allowed:)`.
  case askDownstream
  /// Negotiate the output's proposal, then call `negotiated(pool:)` or `negotiationFailed()`.
  case negotiate
  /// Push the picture as the output of the frame.
  case finish(FrameNumber, DecodedPicture)
  /// Drop the frame, with a QoS message.
  case drop(FrameNumber)
  /// Drop the frame before others that are shown earlier, with a QoS message.
  case dropAhead(FrameNumber)
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

/// How a frame is to be decoded, by the state of the base class when its turn has come.
struct FrameRequest {
  /// Upstream has marked it as a random access point.
  var isSyncPoint = true
  /// When it is to be shown.
  var pts: ClockTime?
  /// It is to be decoded but not shown.
  var isDecodeOnly = false
  /// It would be shown too late.
  var isLate = false
  /// Trick mode: only random access points are decoded.
  var keyUnitsOnly = false
  /// Trick mode: pictures that nothing refers to may be dropped.
  var allowsSkipping = false
  /// Reverse playback: pictures go downstream a group at a time, backwards, when all of it is decoded.
  var isReverse = false
}
