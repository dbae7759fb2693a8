// SPDX-License-Identifier: MPL-2.0

/// Continues the clock of a transport stream when it restarts, such as at a seam between joined files. Packets behind
/// the seam come right after the packets before it. The video, which is read first, finds the seams; other streams
/// follow them.
final class TransportClock {
  /// A place behind which times are shifted.
  private struct Seam {
    /// The offsets of the last video packet in front of the seam and of the first packet behind it, in bytes of the
    /// file.
    let last: Int64
    let first: Int64
    /// The shift of times behind it, in nanoseconds.
    let shift: Int64
  }

  /// Times of a packet of the video, before the shift.
  private struct Place {
    let position: Int64
    let time: Int64
    let duration: Int64
    let isDecodingTime: Bool
  }

  /// Seams in ascending order.
  private var seams: [Seam] = []
  private var last: Place?
  private var hasEnded = false
  /// Reads bytes of the file again; nothing of a pipe.
  private let read: (_ offset: UInt64, _ count: Int) -> [UInt8]
  private var rereadCount: Int64 = 0

  init(reading read: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]) { self.read = read }

  // MARK: The video

  /// The smallest step back of a clock at a seam, in nanoseconds. Presentation times alone also go back when pictures
  /// are reordered.
  private static func back(_ isDecodingTime: Bool) -> Int64 { isDecodingTime ? 100_000_000 : 1_000_000_000 }
  /// The smallest step ahead at a seam, and the same if nothing in the file shows whether the clock kept running.
  private static let (ahead, farAhead): (Int64, Int64) = (10_000_000_000, 3_600_000_000_000)

  /// Takes a packet of the video. Returns the shift of its times, in nanoseconds.
  ///
  /// - Parameters:
  ///   - position: the packet's offset in the file, in bytes; `nil` if it is not known.
  ///   - decoding: when it is decoded, in nanoseconds; `nil` if the container does not have that.
  ///   - presentation: when it is presented, in nanoseconds; `nil` if the container does not have that.
  func take(at position: Int64?, decoding: Int64?, presentation: Int64?) -> Int64 {
    guard let time = decoding ?? presentation else { return seams.last?.shift ?? 0 }
    let position = max(position ?? 0, last?.position ?? 0)
    let isDecodingTime = decoding != nil
    guard let last else {
      last = Place(position: position, time: time, duration: 0, isDecodingTime: isDecodingTime)
      return 0
    }
    let (step, distance) = (time &- last.time, time &- (last.time &+ last.duration))
    let isSeam =
      step < -Self.back(isDecodingTime && last.isDecodingTime)
      || distance > Self.ahead && (jumps(from: last.position, to: position) ?? (distance > Self.farAhead))
    if isSeam {
      let shift = (seams.last?.shift ?? 0) &- distance
      seams.append(Seam(last: last.position, first: position, shift: shift))
    }
    // The pictures behind a seam probably last as long as those in front of it.
    let duration = !isSeam && (1...1_000_000_000).contains(step) ? step : last.duration
    self.last = Place(position: position, time: time, duration: duration, isDecodingTime: isDecodingTime)
    return seams.last?.shift ?? 0
  }

  /// No more of the video is read.
  func end() { hasEnded = true }

  // MARK: Other streams

  /// Whether the shift of a packet's times is known, because the video was read that far.
  func isKnown(at position: Int64) -> Bool { hasEnded || last.map { position <= $0.position } ?? true }

  /// The shift of the times of a packet of another stream, in nanoseconds.
  ///
  /// - Parameters:
  ///   - position: the packet's offset in the file, in bytes.
  ///   - time: its time, in nanoseconds.
  ///   - expected: its shifted time by the previous packets of its stream; `nil` without one.
  func shift(at position: Int64, of time: Int64, expecting expected: Int64?) -> Int64 {
    var (low, high) = (0, seams.count)
    while low < high {
      let middle = (low + high) / 2
      if seams[middle].first <= position { low = middle + 1 } else { high = middle }
    }
    let shift = low > 0 ? seams[low - 1].shift : 0
    // Between two pictures, the seam is in front of the packet or behind it.
    guard low < seams.count, position > seams[low].last, let expected else { return shift }
    let (before, behind) = (time &+ shift &- expected, time &+ seams[low].shift &- expected)
    return behind.magnitude < before.magnitude ? seams[low].shift : shift
  }

  // MARK: The other times of the file

  /// The most bytes of the file between two pictures that are read again, and how many are read behind the second one,
  /// in which there are other times.
  private static let (readLimit, readBehind): (Int64, Int64) = (1 << 22, 1 << 18)

  /// Whether the clock itself goes ahead between two places of the file. If only pictures are missing, it keeps
  /// running. `nil` if that cannot be read.
  private func jumps(from start: Int64, to end: Int64) -> Bool? {
    let count = min(end - start, Self.readLimit) + Self.readBehind
    // At most as many bytes are read again as were read.
    guard let offset = UInt64(exactly: start), rereadCount + count <= end + (1 << 24) else { return nil }
    rereadCount += count
    return TransportStream.clockJumps(in: read(offset, Int(count)), by: Self.ahead / 1_000_000_000)
  }
}
