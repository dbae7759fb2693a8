// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Reads a raw file ahead of the output after an accurate seek. The base class begins at the last keyframe before the
/// target that its index has. The scout reads from there to the last keyframe from which the picture at the target is
/// right. Reading takes little time; the pictures in between would have to be decoded.
struct SeekScout<Codec: ParserCodec> {
  /// The next step.
  enum Step {
    /// Have the caps made, and pass the same data again.
    case announce
    /// Pass data starting at ``offset``.
    case more
    /// The keyframe is found.
    case arrived
  }

  /// The target of the seek.
  let target: ClockTime
  /// The position in the file of the next data to read.
  private(set) var offset: UInt64
  /// The position at which it began.
  private let start: UInt64
  /// The reader ahead of the output's.
  private(set) var reader: ParserReader<Codec>
  /// The access unit found last.
  private var accessUnit = ParsedAccessUnit<Codec>()
  /// The time of the first picture, if the base class gives it.
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
  ///   - reader: as it is in front of that data.
  ///   - offset: the data's position in the file.
  ///   - position: the time of the first picture, if the base class gives it.
  ///   - target: the target of the seek.
  init(_ reader: ParserReader<Codec>, from offset: UInt64, at position: ClockTime?, to target: ClockTime) {
    (self.reader, self.position, self.target) = (reader, position, target)
    (start, self.offset) = (offset, offset)
  }

  /// Reads data that begins at ``offset``, or the same data again after `announce`.
  ///
  /// - Parameters:
  ///   - start: the data's position in the file.
  ///   - isEnd: whether the file ends with it.
  mutating func read(_ bytes: Span<UInt8>, at start: UInt64, isEnd: Bool, _ log: ElementLog) -> Step {
    while let place = Int(exactly: offset - start), place < bytes.count {
      switch skim(bytes.extracting(place...), isEnd: isEnd, log) {
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

  /// A picture was read: recoveries that it completes are complete at its presentation.
  private mutating func follow(presentedAt time: ClockTime) {
    if let slice = accessUnit.scanned.slice,
      let sps = reader.finder.scanner.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID)
    {
      for index in recovering.indices { recovering[index].advance(slice, sps: sps) }
    }
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
  mutating func makeCaps(upstream: borrowing Caps, _ log: ElementLog) {
    accessUnit.announce()
    _ = reader.proposeCaps(for: accessUnit, upstream: upstream, log)
  }

  /// Keyframes in front of the target since the last call.
  mutating func takeKeyframes() -> [(time: ClockTime, offset: UInt64)] {
    defer { keyframes = [] }
    return keyframes
  }

  /// The keyframe to continue with; nil if the base class began at that keyframe.
  var arrival: SeekEntry<Codec>? { last.flatMap { $0.offset > start ? $0 : nil } }

  // MARK: One access unit

  /// Finds the next access unit like the parser, without output.
  private mutating func skim(_ bytes: Span<UInt8>, isEnd: Bool, _ log: ElementLog) -> SkimmedAccessUnit<Codec> {
    reader.look(at: offset, isEnd: isEnd)
    if reader.lacksBytes(bytes.count) { reader.forgetPosition() }
    reader.aim(continuesOutput: true)
    let finding = reader.find(bytes, isMarked: false, &accessUnit, log)
    _ = reader.takeChanges()
    guard case .accessUnit(let size) = finding else {
      reader.consume(finding.size)
      return finding.size > 0 ? .other(finding.size) : .incomplete
    }
    if !accessUnit.isAnnounced, !reader.describes(accessUnit) { return .announce }
    let contents = accessUnit.scanned.contents
    let mayBegin = !contents.isDisjoint(with: [.randomAccess, .recoveryPoint]) || contents.isIntra
    let before = mayBegin ? reader : nil
    guard reader.readOrder(of: &accessUnit, bytes, size: size) else { return .incomplete }
    reader.letGo()
    _ = reader.describe(&accessUnit, size: size, Buffer.Attributes())
    var times = accessUnit.attributes
    times.dts = times.dts ?? position
    reader.takePosition(&times)
    reader.consume(size)
    guard accessUnit.beginsPicture else { return .other(size) }
    guard accessUnit.isRandomAccessPoint == true, let before else { return .picture(size, times, nil) }
    guard !contents.contains(.randomAccess), let point = accessUnit.recoveryPoint, point.distance > 0 else {
      return .picture(size, times, SeekEntry(before, at: offset, times.pts))
    }
    // Pictures of another recovery never equal the pictures of a run from the beginning.
    guard point.isExactMatch, !point.isBrokenLink, let slice = accessUnit.scanned.slice else {
      return .picture(size, times, nil)
    }
    return .picture(size, times, SeekEntry(before, at: offset, times.pts, RecoveryProgress(point, at: slice)))
  }
}

/// A keyframe: all pictures after it, or after the end of its recovery, are right.
struct SeekEntry<Codec: ParserCodec> {
  /// The reader when the access unit was found.
  let reader: ParserReader<Codec>
  /// The access unit's position in the file.
  let offset: UInt64
  /// Its presentation time.
  let time: ClockTime?
  /// The recovery of a gradual keyframe.
  private var recovery: RecoveryProgress<Codec>?

  init(
    _ reader: ParserReader<Codec>, at offset: UInt64, _ time: ClockTime?, _ recovery: RecoveryProgress<Codec>? = nil
  ) {
    (self.reader, self.offset, self.time, self.recovery) = (reader, offset, time, recovery)
  }

  /// Whether pictures are right from here on.
  var isComplete: Bool { recovery?.isComplete ?? true }

  /// Another picture was read, with this first slice.
  mutating func advance(_ slice: Codec.SliceHeader, sps: borrowing Codec.SequenceParameterSet) {
    recovery?.take(slice, sps: sps)
  }
}

/// A finding ahead of the output.
enum SkimmedAccessUnit<Codec: ParserCodec> {
  /// The caps must be made before it is known.
  case announce
  /// Its end, or what its time is computed from, is not in the data.
  case incomplete
  /// So many bytes without the beginning of a picture.
  case other(Int)
  /// An access unit of so many bytes with the beginning of a picture, with its times; the entry if decoding can begin
  /// with it.
  case picture(Int, Buffer.Attributes, SeekEntry<Codec>?)
}
