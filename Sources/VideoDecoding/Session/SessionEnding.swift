// SPDX-License-Identifier: MPL-2.0

/// The kind of ending: it decides what is discarded, and which pictures may still be referred to.
enum SessionEnding {
  /// Everything before a seek: access units inside are discarded, and references forgotten.
  case flushed
  /// A coded video sequence, whose pictures were output: references are forgotten.
  case sequenceEnded
  /// Everything was output; later pictures may refer to it.
  case drained
  /// The wait for the codec: access units inside are discarded, and the codec is closed.
  case cancelled
  /// The codec, for good: it is closed. The value is a failure that is not reported yet, if nothing is missing so
  /// far.
  case lost(unreported: DecodeError?)
  /// The session: access units inside are discarded, and the codec is closed.
  case invalidated

  /// Access units inside are discarded.
  var discardsAccessUnits: Bool {
    switch self {
    case .flushed, .cancelled, .invalidated: true
    case .sequenceEnded, .drained, .lost: false
    }
  }
}
