// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Whether to query downstream's packaging.
enum PackagingNeed { case none, first, again }

/// The element's next step with the current data.
enum ParserAction {
  /// Send caps for the access unit that was found, and fetch the next action.
  case announce
  /// Return to the base class.
  case answer(ParserAnswer)
  /// Post an error and stop.
  case fail(ElementError)
}

/// The outcome of starting the output of the frame, or of its rest, that the base class is about to push.
enum OutputStart {
  /// It is sent.
  case begun
  /// It is sent; it and all that follow begin after the segment's stop.
  case afterSegment
  /// It cannot be output: there are no caps.
  case noCaps
}

/// The answer to data, with all actions that follow from it.
struct ParserAnswer {
  /// The base class's next step.
  var step: ParseStep
  /// The bytes are consumed without output.
  var isDropped = false
  /// More access units may be pushed in the same frame.
  var mayBatch = false
  /// The number of bytes to request from now on; nil for as many as before.
  var minimumFrameSize: Int?
  /// A warning to be posted.
  var warning: ElementError?
  /// Other parts of the file must be sampled.
  var wantsSamples = false
  /// Accurate seeks begin this much earlier from now on; nil for as much as before.
  var leadIn: LeadIn?
  /// New tags must be sent.
  var changesTags = false
  /// Statistics must be published.
  var publishes = false
  /// The outgoing segment will be shifted: upstream's must not be sent.
  var holdsSegment = false
  /// Whether the input ends here, in pull mode, which has no EOS event.
  var end = InputEnd.no

  enum InputEnd { case no, now, afterOutput }
}

/// The distance between an accurate seek's start and its target.
struct LeadIn {
  let rate: Fraction
  let frames: UInt32
}

/// The reason a stream cannot be parsed any further.
enum ParserFailure<Codec: ParserCodec> {
  /// So many bytes hold no end of an access unit.
  case endless(Int)
  /// An access unit of this many bytes cannot be written.
  case unwritable(Int, from: NALPackaging, to: StreamFormat<Codec>?, BitstreamError)

  /// The message for the application.
  var message: ElementError {
    switch self {
    case .endless(let size):
      ElementError(
        .stream(.format), "This does not look like \(Codec.name): an access unit does not end.",
        debug: "found \(size) bytes without the end of an access unit, expected at most \(ParserLimits.accessUnitSize)")
    case .unwritable(let size, let input, let output, let error):
      ElementError(
        .stream(.format), "An access unit cannot be repackaged.",
        debug: "found \(size) bytes of \(input), expected \(output?.rawValue ?? "nothing"): \(error)")
    }
  }
}
