// SPDX-License-Identifier: MPL-2.0

/// Why a pass cannot complete a copy. ``CopyPlan`` decides what follows.
enum CopyRefusal: Error {
  /// An access unit has no presentation time.
  case untimed
  /// Times that access units lack cannot be derived, because there are gaps between the others.
  case gap
  /// The format changes, which one description of the video cannot hold.
  case formatChange
  /// An access unit cannot be copied as it is, and must be taken apart first.
  case irregular
  /// Reading began behind the keyframe that the window needs.
  case missed
  /// Pictures of the range cannot be encoded.
  case seam(SeamObstacle)
  /// Pictures at one end of an exact range cannot be decoded without errors. Without them, the range has this start and
  /// end; `nil` for the end of the source.
  case damage(start: Int64, end: Int64?)
  /// The intra picture that is shown at this time of the media is no entry of an exact cut, although it was tried as one.
  case entry(Int64, SeamObstacle)
  case failure(Failure)

  /// Whether no other plan helps: the source cannot be read, or the target cannot be written.
  var isFailure: Bool { if case .failure = self { true } else { false } }

  /// Performs steps that only fail.
  static func failing<Result>(_ steps: () throws(Failure) -> Result) throws(CopyRefusal) -> Result {
    do throws(Failure) { return try steps() } catch { throw .failure(error) }
  }
}
