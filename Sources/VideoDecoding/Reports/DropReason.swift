// SPDX-License-Identifier: MPL-2.0

/// The reason that an access unit gives no picture without being a failure.
public enum DropReason: UInt8, Sendable, CaseIterable {
  /// It comes before the first random access point: an IDR picture, a recovery point, or an intra picture in a stream
  /// that has shown no recovery point SEI.
  case beforeRandomAccessPoint
  /// It refers to pictures before the random access point at which decoding began, or the recovery that began there is
  /// not complete.
  case noReference
  /// It was skipped: see ``DecompressionSession/skipFrames``.
  case skipped
  /// It is the second field of the access unit before it, whose picture holds both.
  case secondField
  /// The picture is damaged, and `SessionConfiguration.outputCorrupt` is off.
  case corrupt
  /// `flush` or `invalidate` came first.
  case flushed
  /// `decode` was called with `doNotOutput`.
  case doNotOutput
  /// It has no picture. It has parameter sets or SEI only, a redundant picture, the previous access unit's picture
  /// again, or data that the decoder ignores.
  case noPicture
  /// It was decoded, but is not for output (`no_output_of_prior_pics_flag`).
  case notShown
  /// The codec was lost, the replay was not possible, and the next random access point has not come yet.
  case sessionLost
  /// It was decoded, but pictures that follow it in output order were output before it. The stream reorders more
  /// deeply than it signals, or than was known.
  case outOfOrder

  /// Whether a picture is missing from the output although the stream has it and no setting leaves it out.
  public var isLoss: Bool {
    switch self {
    case .beforeRandomAccessPoint, .noReference, .corrupt, .outOfOrder, .sessionLost: true
    case .skipped, .secondField, .flushed, .doNotOutput, .noPicture, .notShown: false
    }
  }
}
