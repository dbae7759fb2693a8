// SPDX-License-Identifier: MPL-2.0

/// What a session still has to do.
enum SessionTask {
  case decode(Submission)
  case drain
  case reset
}

/// What ends, and so what may still be referred to.
enum SessionEnding {
  /// A coded video sequence: all stream state is discarded.
  case sequence
  /// Everything was output; what follows may refer to it.
  case drained
  /// The wait for the codec was cancelled: nothing is inside.
  case cancelled
  /// The codec was lost for good; a failure that is not reported yet, where nothing is missing so far.
  case lost(unreported: DecodeError?)
}
