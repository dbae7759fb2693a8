// SPDX-License-Identifier: MPL-2.0
import GStreamer

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
