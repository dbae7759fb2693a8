// SPDX-License-Identifier: MPL-2.0
import GStreamer

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
