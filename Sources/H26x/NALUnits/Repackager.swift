// SPDX-License-Identifier: MPL-2.0

/// Changes the packaging of an access unit: found once, sized exactly, written in one pass.
///
/// ```
/// var repackager = Repackager(codec: .h264)
/// repackager.scanAnnexB(input.span)
/// let size = try repackager.outputSize(.lengthPrefixed(.four))
/// // … a buffer of `size` bytes …
/// try repackager.write(input.span, as: .lengthPrefixed(.four), to: &output)
/// ```
///
/// Keep one and use it again: it holds its table's memory.
public struct Repackager: Sendable {
  /// A NAL unit of the input.
  public struct Entry: Sendable, Hashable {
    /// Its bytes in the input.
    public var range: Range<Int>
    /// The length of the start code or length in front.
    public var prefixLength: Int
    /// Its type, 0 to 31 in H.264 and 0 to 63 in H.265.
    public var type: UInt8
  }

  /// NAL units to leave out.
  public var drop = NALUnitTypeSet()

  /// The NAL units of the input, those of ``drop`` left out.
  public private(set) var entries: [Entry] = []

  /// How many NAL units were left out by ``drop`` at the last scan.
  public private(set) var droppedCount = 0

  private let layout: NALUnitLayout
  private var payloadBytes = 0
  private var inputIsWholly4 = true

  /// Creates a repackager.
  public init(codec: FormatDescription.Codec) { self.init(codec.nalUnitLayout) }

  init(_ layout: NALUnitLayout) { self.layout = layout }

  // MARK: Finding

  /// Finds the NAL units of an access unit in Annex B format.
  public mutating func scanAnnexB(_ bytes: Span<UInt8>) {
    removeAll()
    var units = AnnexB.NALUnits(bytes)
    var end = 0
    while let unit = units.next() {
      if unit.startCodeLength != 4 || unit.startCodeOffset != end { inputIsWholly4 = false }
      end = unit.range.upperBound
      append(bytes, unit.range, prefixLength: unit.startCodeLength)
    }
    if end != bytes.count { inputIsWholly4 = false }
  }

  /// Finds the NAL units of a length-prefixed access unit.
  ///
  /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length; ``entries`` then holds the good NAL units before.
  public mutating func scanLengthPrefixed(_ bytes: Span<UInt8>, lengthSize: NALLengthSize) throws(BitstreamError) {
    removeAll()
    inputIsWholly4 = lengthSize == .four
    var units = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize)
    var end = 0
    do throws(BitstreamError) {
      while let range = try units.next() {
        if range.lowerBound - lengthSize.byteCount != end { inputIsWholly4 = false }
        end = range.upperBound
        append(bytes, range, prefixLength: lengthSize.byteCount)
      }
      if end != bytes.count { inputIsWholly4 = false }
    } catch {
      inputIsWholly4 = false
      throw error
    }
  }

  /// Cuts NAL units apart that a careless writer left with start codes in between inside one length-prefixed NAL
  /// unit. Legal NAL units hold no start code, so there is nothing to lose.
  ///
  /// - Parameters:
  ///   - bytes: what was scanned.
  ///   - isSearched: which NAL units are searched; all, unless the caller knows better.
  /// - Returns: how many start codes were found.
  @discardableResult
  public mutating func repairStartCodes(
    in bytes: Span<UInt8>, where isSearched: (Entry) -> Bool = { _ in true }
  ) -> Int {
    guard entries.contains(where: { isSearched($0) && LengthPrefixed.holdsStartCode(bytes, in: $0.range) }) else {
      return 0
    }
    let found = entries
    let dropped = droppedCount
    removeAll()
    droppedCount = dropped
    inputIsWholly4 = false
    var count = 0
    for entry in found {
      guard LengthPrefixed.holdsStartCode(bytes, in: entry.range) else {
        append(bytes, entry.range, prefixLength: entry.prefixLength)
        continue
      }
      let part = bytes.extracting(entry.range)
      // What stands before the first start code is a NAL unit of its own, if there is anything.
      if let first = AnnexB.startCode(in: part), first > 0 {
        var end = entry.range.lowerBound + first
        while end > entry.range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        append(bytes, entry.range.lowerBound..<end, prefixLength: entry.prefixLength)
      }
      var units = AnnexB.NALUnits(part)
      while let unit = units.next() {
        count += 1
        let start = entry.range.lowerBound
        append(
          bytes, start + unit.range.lowerBound..<start + unit.range.upperBound, prefixLength: unit.startCodeLength)
      }
    }
    return count
  }

  /// Leaves out NAL units of the input that were found and are not wanted after all.
  package mutating func drop(where isUnwanted: (Entry) -> Bool) {
    let count = entries.count
    entries.removeAll { entry in
      guard isUnwanted(entry) else { return false }
      payloadBytes -= entry.range.count
      return true
    }
    droppedCount += count - entries.count
  }

  /// Leaves out what lies in parts of the input that are not wanted.
  ///
  /// - Parameter ranges: in ascending order, as ``ScannedAccessUnit/dropped``.
  package mutating func drop(_ ranges: [Range<Int>]) {
    var index = 0
    drop(where: { entry in
      while index < ranges.count, ranges[index].upperBound <= entry.range.lowerBound { index += 1 }
      return index < ranges.count && ranges[index].contains(entry.range.lowerBound)
    })
  }

  /// Some of the NAL units that were found, to write a part of the input by copying.
  ///
  /// - Parameters:
  ///   - range: which of ``entries``; what is out of bounds is left out.
  ///   - origin: where in the input that part begins, in bytes; NAL units in front of it are left out.
  package func part(_ range: Range<Int>, origin: Int) -> Repackager {
    var part = Repackager(layout)
    part.drop = drop
    // What lies around the NAL units of a part is not known here.
    part.inputIsWholly4 = false
    for entry in entries[range.clamped(to: entries.indices)] where entry.range.lowerBound >= origin {
      let range = entry.range.lowerBound - origin..<entry.range.upperBound - origin
      part.entries.append(Entry(range: range, prefixLength: entry.prefixLength, type: entry.type))
      part.payloadBytes += range.count
    }
    return part
  }

  private mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    payloadBytes = 0
    droppedCount = 0
    inputIsWholly4 = true
  }

  private mutating func append(_ bytes: Span<UInt8>, _ range: Range<Int>, prefixLength: Int) {
    guard !range.isEmpty else { return }
    let type = layout.type(bytes[range.lowerBound])
    if drop.contains(type) {
      droppedCount += 1
      return
    }
    entries.append(Entry(range: range, prefixLength: prefixLength, type: type))
    payloadBytes += range.count
  }

  // MARK: Writing

  /// Whether the packaging can be changed where it stands: every prefix has four bytes, nothing lies between the NAL
  /// units, nothing is dropped, and the output's prefixes have four bytes as well.
  public func canWriteInPlace(as packaging: NALPackaging) -> Bool {
    inputIsWholly4 && droppedCount == 0 && packaging.prefixLength == 4
  }

  /// The exact number of bytes that ``write(_:as:inserting:to:)`` writes.
  ///
  /// - Parameters:
  ///   - packaging: of the output.
  ///   - insertions: NAL units that go in front, such as an access unit delimiter or parameter sets.
  /// - Throws: `.lengthNotRepresentable` when a NAL unit is too long for the length size; `bitOffset` says where it
  ///   stands.
  public func outputSize(_ packaging: NALPackaging, inserting insertions: [[UInt8]] = []) throws(BitstreamError) -> Int
  {
    if case .lengthPrefixed(let size) = packaging {
      for entry in entries { try size.check(entry.range.count, at: entry.range.lowerBound) }
      for unit in insertions { try size.check(unit.count) }
    }
    return insertions.reduce(payloadBytes + entries.count * packaging.prefixLength) {
      $0 + $1.count + packaging.prefixLength
    }
  }

  /// Writes the access unit in another packaging.
  ///
  /// An access unit delimiter among the NAL units stays in front of the insertions.
  ///
  /// - Parameters:
  ///   - bytes: what was scanned.
  ///   - packaging: of the output.
  ///   - insertions: NAL units that go in front.
  ///   - output: at least ``outputSize(_:inserting:)`` bytes.
  /// - Returns: the number of bytes written.
  /// - Throws: `.lengthNotRepresentable`, or `.outputTooSmall` when `output` is, or when `bytes` are not what was
  ///   scanned.
  @discardableResult
  public func write(
    _ bytes: Span<UInt8>, as packaging: NALPackaging, inserting insertions: [[UInt8]] = [],
    to output: inout MutableSpan<UInt8>
  ) throws(BitstreamError) -> Int {
    guard try outputSize(packaging, inserting: insertions) <= output.count else {
      throw BitstreamError(.outputTooSmall, "access unit", byteOffset: output.count)
    }
    var offset = 0
    var next = 0
    if !insertions.isEmpty {
      while next < entries.count, entries[next].type == layout.accessUnitDelimiter {
        try Self.put(bytes, entries[next].range, as: packaging, to: &output, at: &offset)
        next += 1
      }
      for unit in insertions { try Self.put(unit.span, 0..<unit.count, as: packaging, to: &output, at: &offset) }
    }
    while next < entries.count {
      try Self.put(bytes, entries[next].range, as: packaging, to: &output, at: &offset)
      next += 1
    }
    return offset
  }

  /// Changes the packaging where it stands. Only when ``canWriteInPlace(as:)`` says so.
  ///
  /// - Throws: `.outputTooSmall` when `bytes` are not what was scanned; `.lengthNotRepresentable`.
  public func writeInPlace(_ bytes: inout MutableSpan<UInt8>, as packaging: NALPackaging) throws(BitstreamError) {
    guard canWriteInPlace(as: packaging) else {
      throw BitstreamError(.unsupported, "in-place packaging", bitOffset: 0)
    }
    _ = try outputSize(packaging)
    for entry in entries {
      guard entry.range.upperBound <= bytes.count else {
        throw BitstreamError(.outputTooSmall, "access unit", byteOffset: bytes.count)
      }
      try packaging.writePrefix(length: entry.range.count, to: &bytes, at: entry.range.lowerBound - 4)
    }
  }

  private static func put(
    _ bytes: Span<UInt8>, _ range: Range<Int>, as packaging: NALPackaging, to output: inout MutableSpan<UInt8>,
    at offset: inout Int
  ) throws(BitstreamError) {
    try packaging.writePrefix(length: range.count, to: &output, at: offset)
    offset += packaging.prefixLength
    guard BulkBytes.copy(bytes, range, to: &output, at: offset) else {
      throw BitstreamError(.outputTooSmall, "NAL unit", byteOffset: range.lowerBound)
    }
    offset += range.count
  }
}
