// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Decodes access units of a seam, of the source or of the copy, in decoding order.
///
/// Pictures are given to a closure as soon as they come out. The timestamp of each is the number of the access unit that
/// began it.
final class SeamDecoder {
  private let decoder: CodecContext
  private let frame: Frame
  private let pool = PacketPool()
  /// The number of access units up to now.
  private var count: Int64 = 0
  /// The number of the access unit that began the latest picture.
  private var pictureNumber: Int64 = 0

  /// - Parameters:
  ///   - format: of the access units.
  ///   - hasStartCodes: whether they have start codes, not length prefixes.
  init(_ format: MediaOutput.VideoFormat, hasStartCodes: Bool) throws(AVError) {
    var settings = CodecSettings(
      codec: format.codec == .h264 ? .h264 : .h265, extradata: hasStartCodes ? [] : format.configuration)
    settings.expectsDeepestReordering = true
    settings.leavesFilmGrainOut = true
    // Frame threads report errors late, and slice threads none.
    settings.threadCount = 1
    decoder = try CodecContext(settings, buffers: nil)
    frame = try Frame()
  }

  /// The number of the next access unit's picture.
  func number(of next: MediaOutput.AccessUnit) -> Int64 { next.role.isSecondField ? pictureNumber : count }

  /// Decodes the next access unit.
  ///
  /// - Throws: also for errors in its picture, which others may refer to.
  func decode(
    _ accessUnit: MediaOutput.AccessUnit, _ take: (borrowing Frame) throws(AVError) -> Void
  ) throws(AVError) {
    pictureNumber = number(of: accessUnit)
    let packet = try pool.packet(copying: accessUnit.bytes.span, timestamp: count)
    count += 1
    var isTaken = false
    while !isTaken {
      do throws(AVError) {
        try decoder.send(packet)
        isTaken = true
      } catch {
        guard error == .tryAgain else { throw error }
      }
      try receive(take)
    }
    guard decoder.takeErrors(timestamp: pictureNumber).isEmpty else { throw .invalidData }
  }

  /// Decodes all that waits.
  func finish(_ take: (borrowing Frame) throws(AVError) -> Void) throws(AVError) {
    try decoder.sendEndOfStream()
    try receive(take)
  }

  private func receive(_ take: (borrowing Frame) throws(AVError) -> Void) throws(AVError) {
    while try decoder.receive(frame) == .frame { try take(frame) }
  }
}
