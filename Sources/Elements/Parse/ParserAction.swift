// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Whether to query downstream's packaging.
enum PackagingNeed { case none, first, again }

/// What the element does next with the current data.
enum ParserAction {
  /// Send caps for the access unit that was found, and fetch the next action.
  case announce
  /// Return to the base class.
  case answer(ParserAnswer)
  /// Post an error and stop.
  case fail(ElementError)
}

/// The answer to data, with everything that has to be done.
struct ParserAnswer {
  /// What the base class is to do.
  var step: ParseStep
  /// The bytes are consumed without output.
  var isDropped = false
  /// More access units may be pushed in the same frame.
  var mayBatch = false
  /// The number of bytes to request from now on; nil for as many as before.
  var minimumFrameSize: Int?
  /// A warning to be posted.
  var warning: ElementError?
  /// Other parts of the file are to be sampled.
  var wantsSamples = false
  /// Accurate seeks are to begin this much earlier from now on; nil for as much as before.
  var leadIn: LeadIn?
  /// New tags are to be sent.
  var changesTags = false
  /// Statistics are to be published.
  var publishes = false
  /// The outgoing segment will be shifted: upstream's must not be sent.
  var holdsSegment = false
  /// Whether the input ends here, in pull mode, which has no EOS event.
  var end = InputEnd.no

  enum InputEnd { case no, now, afterOutput }
}

/// What becomes of the frame, or the rest of it, that the base class is about to push.
enum OutputStart {
  /// It is sent.
  case begun
  /// It is sent; it and all that follow begin after the segment's stop.
  case afterSegment
  /// It cannot be output: there are no caps.
  case noCaps
}
