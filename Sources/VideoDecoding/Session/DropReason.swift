// SPDX-License-Identifier: MPL-2.0

/// Why an access unit gives no picture without being a failure.
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
  /// It has no picture: parameter sets or SEI only, a redundant picture, the picture of the access unit before once
  /// more, data that the decoder ignores.
  case noPicture
  /// It was decoded, but is not for output (`no_output_of_prior_pics_flag`, broken picture order).
  case notShown
  /// The codec was lost, the replay was not possible, and the next random access point has not come yet.
  case sessionLost

  /// Whether a picture is missing from the output although the stream has it and no setting leaves it out.
  public var isLoss: Bool {
    switch self {
    case .beforeRandomAccessPoint, .noReference, .corrupt, .sessionLost: true
    case .skipped, .secondField, .flushed, .doNotOutput, .noPicture, .notShown: false
    }
  }
}
