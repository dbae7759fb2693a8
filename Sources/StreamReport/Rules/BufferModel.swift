// SPDX-License-Identifier: MPL-2.0

/// Models the coded picture buffer from picture to picture: by the HRD parameters where the stream has them, else with
/// the bit rate and size of its level.
struct BufferModel: Sendable {
  /// The buffer's parameters.
  struct Parameters: Sendable, Equatable {
    /// In bits a second.
    var bitRate: UInt64
    /// In bits.
    var size: UInt64
    var isConstantBitRate: Bool
    /// Whether they are HRD parameters of the stream, not the level's limits.
    var isSignalled: Bool
    /// Whether pictures may arrive late.
    var isLowDelay: Bool
  }

  private var parameters: Parameters?
  private var buffer: CodedPictureBuffer?
  /// The removal times of the picture before and of the last one with a buffering period SEI, in seconds.
  private var last = 0.0
  private var period = 0.0

  /// Removes the next access unit from the buffer.
  ///
  /// - Parameters:
  ///   - bits: its size.
  ///   - parameters: those of the buffer.
  ///   - initialDelay: the initial removal delay of its buffering period SEI in seconds; nil without one.
  ///   - removalDelay: the removal delay of its picture timing SEI in seconds; nil without one.
  ///   - duration: the seconds since the access unit before, used without `removalDelay`; nil when not known.
  /// - Returns: bits in the buffer just before the removal; nil when that is not known.
  mutating func next(
    bits: UInt64, _ parameters: Parameters, initialDelay: Double?, removalDelay: Double?, duration: Double?,
    log: inout FindingLog
  ) -> Int64? {
    if self.parameters != parameters {
      self.parameters = parameters
      buffer = nil
    }
    guard parameters.bitRate > 0, parameters.size > 0 else { return nil }
    // Time goes back where streams were concatenated: begin anew with the next buffering period.
    if parameters.isSignalled, let removalDelay {
      let step = period + removalDelay - last
      if step <= 0 || step >= 3600 { buffer = nil }
    }
    var seconds = 0.0
    if buffer == nil {
      // A signalled buffer begins with a buffering period, the level's is assumed to be full.
      guard !parameters.isSignalled || initialDelay != nil else { return nil }
      buffer = CodedPictureBuffer(
        bitRate: parameters.bitRate, size: parameters.size, isConstantBitRate: parameters.isConstantBitRate,
        isLowDelay: parameters.isLowDelay, fullness: initialDelay.map { $0 * Double(parameters.bitRate) })
      (last, period) = (0, 0)
    } else if parameters.isSignalled, let removalDelay {
      let time = period + removalDelay
      seconds = time - last
      last = time
      if initialDelay != nil { period = time }
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
