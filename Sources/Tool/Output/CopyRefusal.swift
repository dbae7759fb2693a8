// SPDX-License-Identifier: MPL-2.0

/// Why an access unit cannot be written into a copy.
enum CopyRefusal: Error {
  /// It has no presentation time.
  case untimed
  /// Times that it lacks cannot be derived, because there are gaps between the others.
  case gap
  /// The format changes, which one description of the video cannot hold.
  case formatChange
  /// It cannot be copied as it is, and must be taken apart first.
  case irregular
  /// It is so far in front of the cut that reading had better continue at a place, in nanoseconds of the media.
  case distant(origin: Int64, place: Int64)
  /// Reading began at a place behind the keyframe that the cut needs.
  case missed
  case failure(Failure)
}
