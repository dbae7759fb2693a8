// SPDX-License-Identifier: MPL-2.0

/// A remaining task of a session.
enum SessionTask {
  case decode(Submission)
  case drain
  case endSequence
}
