// SPDX-License-Identifier: MPL-2.0
import H26x

/// Models the coded picture buffer from picture to picture: by the HRD parameters if the stream has them, else with
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

  /// Removes an access unit from the buffer: the signalled one, or the level's.
  ///
  /// - Parameters:
  ///   - bytes: the size of the access unit.
  ///   - codedBytes: the size of its VCL NAL units and filler data.
  ///   - pictures: the walk at its end.
  ///   - interval: seconds since the access unit before by the container; nil if not known.
  /// - Returns: nil without a picture, and if the contents of the buffer are not known.
  mutating func remove(
    bytes: UInt64, codedBytes: UInt64, _ pictures: borrowing some PictureWalking, interval: Double?
  ) -> RemovedPicture? {
    guard pictures.picture.exists else { return nil }
    let parameters: Parameters
    var bits = codedBytes * 8
    if let signalled = pictures.signalledBuffer {
      parameters = Parameters(
        bitRate: signalled.bitRate, size: signalled.size, isConstantBitRate: signalled.isConstantBitRate,
        isSignalled: true, isLowDelay: signalled.isLowDelay)
      if !signalled.holdsVCLOnly { bits = bytes * 8 }
    } else if let limits = pictures.limits {
      parameters = Parameters(
        bitRate: limits.bitRate, size: limits.codedBuffer, isConstantBitRate: false, isSignalled: false,
        isLowDelay: false)
    } else {
      return nil
    }
    return next(
      bits: bits, parameters, initialDelay: pictures.messages.initialDelay,
      removalDelay: pictures.messages.removalDelay, duration: interval == nil ? pictures.period : interval)
  }

  /// Removes the next access unit from the buffer.
  ///
  /// - Parameters:
  ///   - bits: its size.
  ///   - parameters: those of the buffer.
  ///   - initialDelay: the initial removal delay of its buffering period SEI in seconds; nil without one.
  ///   - removalDelay: the removal delay of its picture timing SEI in seconds; nil without one.
  ///   - duration: the seconds since the access unit before, used without `removalDelay`; nil if not known.
  private mutating func next(
    bits: UInt64, _ parameters: Parameters, initialDelay: Double?, removalDelay: Double?, duration: Double?
  ) -> RemovedPicture? {
    if self.parameters != parameters {
      self.parameters = parameters
      buffer = nil
    }
    guard parameters.bitRate > 0, parameters.size > 0 else { return nil }
    // Time goes back if streams were concatenated: start over with the next buffering period.
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
    return RemovedPicture(bits: bits, parameters: parameters, removal: removal)
  }
}

/// The findings about a picture removed from the coded picture buffer.
struct RemovedPicture: Sendable {
  /// Its size.
  var bits: UInt64
  var parameters: BufferModel.Parameters
  var removal: CodedPictureBuffer.Removal
}
