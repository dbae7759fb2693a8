// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Whether downstream has to be asked how it wants the stream.
enum PackagingNeed { case none, first, again }

/// What the element does next with the data in hand.
enum ParserAction {
  /// Send caps for the access unit that was found, and ask again.
  case announce
  /// Answer the base class.
  case answer(ParserAnswer)
  /// Post an error and stop.
  case fail(ElementError)
}

/// The answer to data, and what goes with it.
struct ParserAnswer {
  /// What the base class is to do.
  var step: ParseStep
  /// The bytes count as done with, and nothing goes out.
  var isDropped = false
  /// More access units may be sent in the same frame.
  var mayBatch = false
  /// Bytes to ask for from now on; nil for as many as before.
  var minimumFrameSize: Int?
  /// A warning to be posted.
  var warning: ElementError?
  /// New tags are to be sent.
  var changesTags = false
  /// Statistics are to be published.
  var publishes = false
  /// The outgoing segment will be shifted: upstream's must not go out.
  var holdsSegment = false
  /// The input ends here, and no event tells.
  var end = InputEnd.no

  enum InputEnd { case no, now, afterOutput }
}

/// What becomes of the frame that the base class is about to send, or of what is left of it.
enum OutputStart {
  /// It goes out.
  case begun
  /// It goes out, and begins behind the segment, as all that follows it.
  case behindSegment
  /// It cannot go out: there are no caps.
  case noCaps
}
