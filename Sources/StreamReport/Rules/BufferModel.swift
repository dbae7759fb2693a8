// SPDX-License-Identifier: MPL-2.0

/// Follows the coded picture buffer from picture to picture: by the HRD parameters where the stream has them, else at
/// the highest rate and size of its level.
struct BufferModel: Sendable {
  /// What the stream or its level says of the buffer.
  struct Parameters: Sendable, Equatable {
    var bitRate: UInt64
    var size: UInt64
    var isConstantBitRate: Bool
    /// Whether the stream says so itself.
    var isSignalled: Bool
  }

  private var parameters: Parameters?
  private var buffer: CodedPictureBuffer?
  /// When the picture before and the last one with a buffering period were taken out, in seconds.
  private var last = 0.0
  private var period = 0.0

  /// Takes the next access unit.
  ///
  /// - Parameters:
  ///   - bits: its size.
  ///   - parameters: of the buffer.
  ///   - initialDelay: of its buffering period, in seconds.
  ///   - removalDelay: since the buffering period before, in seconds; nil where it is not sent.
  ///   - duration: since the access unit before, in seconds, where the stream does not say; nil when it is not known.
  /// - Returns: bits in the buffer before it is taken out; nil when that cannot be told.
  mutating func next(
    bits: UInt64, _ parameters: Parameters, initialDelay: Double?, removalDelay: Double?, duration: Double?,
    log: inout FindingLog
  ) -> Int64? {
    if self.parameters != parameters {
      self.parameters = parameters
      buffer = nil
    }
    guard parameters.bitRate > 0, parameters.size > 0 else { return nil }
    var seconds = 0.0
    if buffer == nil {
      // The signalled buffer begins with a buffering period, the level's may be full.
      guard !parameters.isSignalled || initialDelay != nil else { return nil }
      buffer = CodedPictureBuffer(
        bitRate: parameters.bitRate, size: parameters.size, isConstantBitRate: parameters.isConstantBitRate,
        fullness: initialDelay.map { $0 * Double(parameters.bitRate) })
      (last, period) = (0, 0)
    } else if parameters.isSignalled, let removalDelay {
      let time = period + removalDelay
      seconds = time - last
      last = time
      if initialDelay != nil { period = time }
      // Time does not go back, but where streams were joined.
      guard seconds > 0, seconds < 3600 else {
        buffer = nil
        return nil
      }
    } else {
      guard let duration else { return nil }
      seconds = duration
      last += duration
      if initialDelay != nil { period = last }
    }
    guard let removal = buffer?.remove(bits: bits, after: seconds) else { return nil }
    if removal.missing > 0 {
      log.report(
        parameters.isSignalled ? .bufferUnderflow : .levelUnderflow,
        "\(bits) bits, of which \(removal.missing) come too late at \(parameters.bitRate) bit/s",
        expected: "at most \(removal.fullness) bits")
    }
    if removal.excess > 0, parameters.isSignalled {
      log.report(
        .bufferOverflow, "\(removal.excess) bits more than the buffer holds",
        expected: "at most \(parameters.size) bits")
    }
    return removal.fullness
  }
}
