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
