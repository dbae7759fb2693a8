// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Reads a raw file ahead of what goes out, from the keyframe at which the base class begins after an accurate seek, the
/// last one before the target that it has in its index, to the last one there is. Reading takes little time; what lies
/// between would have to be decoded.
struct SeekScout<Codec: ParserCodec> {
  /// What to do next.
  enum Step {
    /// Have the caps made, and pass the same data again.
    case announce
    /// Pass data from ``offset`` on.
    case more
    /// The keyframe is found.
    case arrived
  }

  /// Where the seek goes.
  let target: ClockTime
  /// Where the next data to read begins in the file.
  private(set) var offset: UInt64
  /// Where it began.
  private let start: UInt64
  /// The parser there.
  private let origin: ParserCore<Codec>
  /// The parser that reads ahead.
  private var core: ParserCore<Codec>
  /// The time of the first picture, where the base class gives it.
  private let position: ClockTime?
  /// The parser in front of the last keyframe so far, and where that is.
  private var last: (core: ParserCore<Codec>, offset: UInt64)?
  /// Keyframes since the last call of ``takeKeyframes()``.
  private var keyframes: [(time: ClockTime, offset: UInt64)] = []

  /// Begins at the data that has just come.
  ///
  /// - Parameters:
  ///   - core: as it is in front of that data.
  ///   - offset: where the data begins in the file.
  ///   - position: the time of the first picture, where the base class gives it.
  ///   - target: where the seek goes.
  init(_ core: ParserCore<Codec>, from offset: UInt64, at position: ClockTime?, to target: ClockTime) {
    (self.core, origin, self.position, self.target) = (core, core, position, target)
    (start, self.offset) = (offset, offset)
  }

  /// Reads data that begins at ``offset``, or the same data again after `announce`.
  ///
  /// - Parameters:
  ///   - start: where the data begins in the file.
  ///   - isEnd: whether the file ends with it.
  mutating func read(_ bytes: Span<UInt8>, at start: UInt64, isEnd: Bool, _ log: ElementLog) -> Step {
    while let place = Int(exactly: offset - start), place < bytes.count {
      switch core.skim(bytes.extracting(place...), at: offset, from: position, isEnd: isEnd, log) {
      case .announce: return .announce
      case .incomplete: return isEnd ? .arrived : .more
      case .other(let size): offset += UInt64(size)
      case .picture(let size, let times, let keyframe):
        // Nothing that follows is presented before it is decoded.
        guard let pts = times.pts, let dts = times.dts, dts <= target else { return .arrived }
        if let keyframe {
          guard pts <= target else { return .arrived }
          last = (keyframe, offset)
          keyframes.append((pts, offset))
        }
        offset += UInt64(size)
      }
    }
    return isEnd ? .arrived : .more
  }

  /// Makes caps for the current access unit, as far as they are needed to read on.
  mutating func makeCaps(upstream: borrowing Caps, _ log: ElementLog) { _ = core.proposeCaps(upstream: upstream, log) }

  /// Keyframes in front of the target since the last call.
  mutating func takeKeyframes() -> [(time: ClockTime, offset: UInt64)] {
    defer { keyframes = [] }
    return keyframes
  }

  /// The parser to go on with; nil where that is the keyframe at which it began.
  func arrival() -> ParserCore<Codec>? {
    guard var last, last.offset > start else { return nil }
    last.core.arrive(at: last.offset, from: origin)
    return last.core
  }
}
