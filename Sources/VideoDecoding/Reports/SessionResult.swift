// SPDX-License-Identifier: MPL-2.0

/// The result of an access unit. Every access unit that `decode` takes gets exactly one.
public enum SessionResult: Sendable {
  /// A picture. Frames come in presentation order.
  case frame(DecodedPicture)
  /// No picture, without a failure.
  case dropped(tag: UInt64, reason: DropReason)
  /// It could not be decoded.
  case failed(tag: UInt64, error: DecodeError)

  /// The tag given to `decode` with the access unit.
  public var tag: UInt64 {
    switch self {
    case .frame(let picture): picture.tag
    case .dropped(let tag, _), .failed(let tag, _): tag
    }
  }
}

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

/// A report to the user besides the results of access units. Fetched with `DecompressionSession.nextNotice()`.
public enum SessionNotice: Sendable, Hashable {
  /// The codec was lost, and `SessionConfiguration.retries` attempts to restart it have failed. The pictures that it
  /// held were output. Decoding continues at the next random access point; until then `DecompressionSession.isLost`
  /// is true and access units are dropped as `sessionLost`. If every picture so far has come, the notice comes only
  /// with the first access unit that is dropped, and not at all if none is.
  case codecLost(DecodeError)
  /// No random access point came within `SessionConfiguration.startPatience`, or before the end: decoding began without
  /// one, and pictures are flagged as corrupt.
  case beganWithoutRandomAccessPoint
  /// Software decodes in place of the device (``SessionConfiguration/Hardware/preferred``), for this reason. Comes
  /// once.
  case softwareFallback(reason: String)
  /// The codec is in a process of its own, and the kernel lacks these layers of protection around it. Comes once.
  case incompleteSandbox(missing: String)
}
