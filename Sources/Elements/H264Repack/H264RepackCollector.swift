// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Makes access units out of input buffers: one each when the input is aligned so, else as the NAL units tell.
struct H264RepackCollector {
  /// The parts of the access unit that is being collected, or is complete.
  private(set) var parts: [H264RepackPart] = []
  /// What is in ``parts``.
  private(set) var content = H264RepackContent()
  /// Upstream marks the last NAL unit of an access unit, so that it need not wait for the next.
  private(set) var seesMarkers = false

  private var detector = H264.AccessUnitDetector()
  private var packaging = NALPackaging.annexB
  private var isNALAligned = false
  private var incoming: H264RepackPart?
  /// The NAL unit of `incoming` to look at next.
  private var entryIndex = 0
  /// The detector has said of the NAL unit at ``entryIndex`` that it begins an access unit.
  private var isBegun = false
  /// Prefix NAL units at the end, which go where the next slice goes.
  private var trailingPrefixes = 0
  private var isComplete = false
  /// What the next access unit begins with.
  private var next: [H264RepackPart] = []
  private var spare: H264RepackPart?

  /// Gets ready for input of this format.
  mutating func prepare(for format: H264RepackFormat) {
    flush()
    seesMarkers = false
    packaging = format.packaging
    isNALAligned = format.alignment == .nalUnit
  }

  mutating func removeAll() { self = H264RepackCollector() }

  /// Forgets what was begun.
  mutating func flush() {
    next.removeAll()
    clear()
    incoming = nil
    detector.reset()
    trailingPrefixes = 0
  }

  /// Takes a buffer in. The one before must be used up.
  mutating func put(_ buffer: consuming Buffer) {
    if let part = spare {
      part.reuse(for: buffer)
      incoming = part
      spare = nil
    } else {
      incoming = H264RepackPart(buffer)
    }
    entryIndex = 0
    isBegun = false
  }

  /// The access unit in ``parts`` is used up.
  mutating func clear() {
    if parts.count == 1 { spare = parts[0] }
    parts.removeAll(keepingCapacity: true)
    swap(&parts, &next)
    content = H264RepackContent()
    isComplete = false
  }

  /// Completes the access unit that is being collected. Answers whether there is one.
  mutating func finish() -> Bool {
    guard !parts.isEmpty else { return false }
    isComplete = true
    detector.reset()
    trailingPrefixes = 0
    return true
  }

  /// Goes on until an access unit is complete. Answers false when the input is used up before.
  mutating func collect(sets: inout H264RepackParameterSets) throws(FlowError) -> Bool {
    if isComplete { return true }
    guard let part = incoming else { return false }
    if entryIndex == 0, !isBegun {
      try part.withBytes { part.scan($0, as: packaging) }
    }
    guard isNALAligned else {
      incoming = nil
      parts.append(part)
      try part.withBytes { bytes in
        for entry in part.repackager.entries {
          content.add(bytes.extracting(entry.range), type: entry.type, sets: &sets)
        }
      }
      isComplete = true
      return true
    }
    return try collectNALUnits(of: part, sets: &sets)
  }

  private mutating func collectNALUnits(
    of part: H264RepackPart, sets: inout H264RepackParameterSets
  ) throws(FlowError) -> Bool {
    let boundary = try part.withBytes { (bytes) throws(FlowError) in add(bytes, of: part, sets: &sets) }
    if let boundary {
      try split(part, before: boundary)
      isComplete = true
      return true
    }
    incoming = nil
    parts.append(part)
    let isMarked = part.withBuffer { $0.flags.contains(.marker) }
    if isMarked, content.hasPicture {
      seesMarkers = true
      return finish()
    }
    return false
  }

  /// Adds NAL units to the access unit until one begins the next: answers its index.
  private mutating func add(
    _ bytes: Span<UInt8>, of part: H264RepackPart, sets: inout H264RepackParameterSets
  ) -> Int? {
    let entries = part.repackager.entries
    while entryIndex < entries.count {
      let entry = entries[entryIndex]
      let nalUnit = bytes.extracting(entry.range)
      if !isBegun {
        let boundary = detector.feed(nalUnit, parameterSets: sets.store).boundary
        if boundary == .begins, !parts.isEmpty || entryIndex > 0 {
          isBegun = true
          return entryIndex
        }
        trailingPrefixes = boundary == .followsNext ? trailingPrefixes + 1 : 0
      }
      isBegun = false
      content.add(nalUnit, type: entry.type, sets: &sets)
      entryIndex += 1
    }
    return nil
  }

  /// Leaves the NAL units from `index` on, and prefix NAL units just before, for the next access unit.
  private mutating func split(_ part: H264RepackPart, before index: Int) throws(FlowError) {
    let entries = part.repackager.entries
    let prefixes = min(trailingPrefixes, index)
    var prefixesBefore = trailingPrefixes - prefixes
    trailingPrefixes = 0
    let first = entries[index - prefixes]
    let cut = first.range.lowerBound - first.prefixLength
    if index > prefixes {
      let head = part.withBuffer { $0.region(0..<cut, withMetadata: true) }
      let tail = part.withBuffer { $0.region(cut..<$0.size, withMetadata: true) }
      guard let head, let tail else { throw .error }
      parts.append(try scanned(head))
      incoming = try scanned(tail)
    }
    entryIndex = prefixes
    while prefixesBefore > 0, let last = parts.last, last.repackager.entries.count <= prefixesBefore {
      prefixesBefore -= last.repackager.entries.count
      next.insert(parts.removeLast(), at: 0)
    }
  }

  private func scanned(_ buffer: consuming Buffer) throws(FlowError) -> H264RepackPart {
    let part = H264RepackPart(buffer)
    try part.withBytes { part.scan($0, as: packaging) }
    return part
  }
}
