// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Reads in a file elsewhere than the base class does: for its duration, and to the target of a seek.
extension ParserElement {
  // MARK: How long a file lasts

  /// Reads the file at several places, to determine how long it lasts.
  func sampleFile() {
    // From now on the base class has an estimate with each frame: it counts several access units as one.
    setDurationInterval(1)
    var samples = sinkPad.peerHasRandomAccess ? FileSample.parts(of: sinkPad.peerDurationInBytes ?? 0) : []
    do throws(FlowError) {
      try measure(&samples)
      if let larger = FileSample.enlarged(samples) {
        samples = larger
        try measure(&samples)
      }
    } catch {
      // After a flush there is another opportunity.
      if error == .flushing { return }
      samples = []
    }
    core.learn(samples)
  }

  private func measure(_ samples: inout [FileSample]) throws(FlowError) {
    var reader = core.reader
    for index in samples.indices {
      let window = samples[index].window
      let size = Int(clamping: window.upperBound - window.lowerBound)
      guard size > 0 else { continue }
      let buffer = try sinkPad.pull(size + ParserLimits.sampleMargin, at: window.lowerBound)
      let map = try buffer.map()
      let found = reader.pictures(in: map.bytes, before: size, elementLog)
      samples[index].measure(found.duration, pictures: found.count)
    }
  }

  /// Converts between bytes and time, as far as the file is known.
  func estimate(_ value: Int64, from source: Query.Format, to target: Query.Format) -> Int64? {
    guard let value = UInt64(exactly: value) else { return nil }
    switch (source, target) {
    case (.bytes, .time): return pace.snapshot.time(at: value).map { Int64(clamping: $0) }
    case (.time, .bytes): return pace.snapshot.position(at: value).map { Int64(clamping: $0) }
    default: return nil
    }
  }

  // MARK: To the target of a seek

  /// After an accurate seek in a raw file, skips the data between the keyframe in the base class's index and the last
  /// keyframe before the target. Returns nil if there is nothing to skip.
  func skipToTarget(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep? {
    // Tested first: an empty optional of a scout costs more to make than a slice header to read.
    if core.reader.snapshot.target != nil, let scout = core.scout() {
      let arrived = try readAhead(scout)
      // Interrupted by another seek to the same time, the target is that one's.
      target.withLock { if $0 == scout.target { $0 = nil } }
      core.arrive(arrived)
    }
    guard let skip = core.skip(frame.size) else { return nil }
    if skip.isDropped { frame.markAsDropped() }
    return skip.step
  }

  /// Reads to the target of a seek.
  private func readAhead(_ start: SeekScout<Codec>) throws(FlowError) -> SeekScout<Codec> {
    let log = elementLog
    var (scout, size, isOver) = (start, ParserLimits.readAheadSize, false)
    while !isOver {
      let offset = scout.offset
      do throws(FlowError) {
        let buffer = try sinkPad.pull(size, at: offset)
        let map: ReadMap
        do throws(FlowError) { map = try buffer.map() } catch { throw reported(error, as: .unreadableInput) }
        let isEnd = map.bytes.count < size
        var step = scout.read(map.bytes, at: offset, isEnd: isEnd, log)
        while case .announce = step {
          scout.makeCaps(upstream: sinkPad.currentCaps ?? Caps(mediaType: Codec.mediaType), log)
          step = scout.read(map.bytes, at: offset, isEnd: isEnd, log)
        }
        if case .arrived = step { isOver = true }
      } catch {
        guard error == .endOfStream else { throw error }
        isOver = true
      }
      for keyframe in scout.takeKeyframes() { addToIndex(keyframe.time, at: keyframe.offset) }
      size = scout.offset > offset ? ParserLimits.readAheadSize : size * 2
      if size > ParserLimits.accessUnitSize { isOver = true }
    }
    return scout
  }
}
