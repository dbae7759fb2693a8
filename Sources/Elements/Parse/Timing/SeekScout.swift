// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Reads a raw file ahead of the output, from the keyframe at which the base class begins after an accurate seek, the
/// last one before the target that it has in its index, to the last one from which the picture at the target is right.
/// Reading takes little time; what lies between would have to be decoded.
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

  /// The target of the seek.
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
  /// The last keyframe so far that is complete.
  private var last: SeekEntry<Codec>?
  /// Keyframes behind it whose gradual recovery is under way, in order.
  private var recovering: [SeekEntry<Codec>] = []
  /// Keyframes since the last call of ``takeKeyframes()``.
  private var keyframes: [(time: ClockTime, offset: UInt64)] = []

  /// Begins at the data that has just come.
  ///
  /// - Parameters:
  ///   - core: as it is in front of that data.
  ///   - offset: where the data begins in the file.
  ///   - position: the time of the first picture, where the base class gives it.
  ///   - target: the target of the seek.
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
      case .picture(let size, let times, let entry):
        // Nothing that follows is presented before it is decoded.
        guard let pts = times.pts, let dts = times.dts, dts <= target else { return .arrived }
        follow(presentedAt: pts)
        if let entry {
          guard pts <= target else { return .arrived }
          add(entry)
        }
        offset += UInt64(size)
      }
    }
    return isEnd ? .arrived : .more
  }

  /// A picture was read: those recoveries that it completes are complete from its presentation on.
  private mutating func follow(presentedAt time: ClockTime) {
    for index in recovering.indices { recovering[index].advance(core) }
    guard let index = recovering.lastIndex(where: \.isComplete) else { return }
    if time <= target { use(recovering[index]) }
    recovering.removeFirst(index + 1)
  }

  private mutating func add(_ entry: SeekEntry<Codec>) {
    guard !entry.isComplete else {
      recovering = []
      return use(entry)
    }
    // Without the oldest one, none would ever be complete where each picture begins another.
    if recovering.count < Self.recoveryLimit { recovering.append(entry) }
  }

  private mutating func use(_ entry: SeekEntry<Codec>) {
    last = entry
    if let time = entry.time { keyframes.append((time, entry.offset)) }
  }

  /// Recoveries that overlap, at most: a hostile stream can have one at each picture.
  private static var recoveryLimit: Int { 16 }

  /// Makes caps for the current access unit, as far as they are needed to read on.
  mutating func makeCaps(upstream: borrowing Caps, _ log: ElementLog) { _ = core.proposeCaps(upstream: upstream, log) }

  /// Keyframes in front of the target since the last call.
  mutating func takeKeyframes() -> [(time: ClockTime, offset: UInt64)] {
    defer { keyframes = [] }
    return keyframes
  }

  /// The parser to go on with; nil where that is the keyframe at which it began.
  func arrival() -> ParserCore<Codec>? {
    guard let last, last.offset > start else { return nil }
    return last.core.arrived(at: last.offset, from: origin, scout: core)
  }
}
