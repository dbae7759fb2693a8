// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The base class's number of a frame that is on its way through the decoder.
typealias FrameNumber = UInt32

/// What the element does for its core between two accesses to it.
///
/// All but the first call out to the base class, to other elements or to the application, any of which may call back
/// into the element before they return.
enum DecoderAction<Codec: DecoderCodec> {
  /// Lend the bytes of the frame, and say how it is wanted: `decode(_:as:)`.
  case decode(FrameNumber)
  /// Add the first frame's bytes to the second frame's, and release the first.
  case append(FrameNumber, to: FrameNumber)
  /// Ask which raw video downstream takes, and tell `plan(allowed:)`.
  case askDownstream
  /// Agree with downstream on the output's proposal, and tell `negotiated(pool:)` or `negotiationFailed()`.
  case negotiate
  /// Push the picture as the output of the frame.
  case finish(FrameNumber, DecodedPicture)
  /// Leave the frame out, and tell quality of service so.
  case drop(FrameNumber)
  /// Leave the frame out before pictures that are shown earlier have gone out, and tell quality of service so.
  case dropAhead(FrameNumber)
  /// Forget the frame without telling anyone.
  case release(FrameNumber)
  /// Ask upstream for a random access point on behalf of the frame.
  case requestSyncPoint(FrameNumber)
  /// Look up when the frame was to be shown, and tell `failed(_:number:pts:)`.
  case reportFailure(FrameNumber, DecodeError)
  /// Tell the pipeline how long pictures are held back.
  case setLatency(ClockTime)
  /// Post a warning.
  case warn(DecoderMessage<Codec>)
  /// Post an error; data flow ends.
  case fail(DecoderMessage<Codec>)
  /// Write to the debug log.
  case log(Log.Level, String)
}

/// How a frame is wanted, as the base class knows it when its turn has come.
struct FrameRequest {
  /// Upstream says that it is a random access point.
  var isSyncPoint = true
  /// When it is to be shown.
  var pts: ClockTime?
  /// It is to be decoded but not shown.
  var isDecodeOnly = false
  /// It would be shown too late.
  var isLate = false
  /// Trick mode: random access points alone are wanted.
  var keyUnitsOnly = false
  /// Trick mode: pictures that nothing refers to may be left out.
  var forwardPredictedOnly = false
}
