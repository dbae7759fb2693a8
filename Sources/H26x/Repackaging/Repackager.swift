// SPDX-License-Identifier: MPL-2.0

/// Changes the packaging of an access unit: found once, sized exactly, written in one pass.
///
/// ``packaged(_:from:as:inserting:)`` does all of it in one call. Its steps, for memory of the caller's own:
///
/// ```
/// var repackager = Repackager(codec: .h264)
/// repackager.scanAnnexB(input.span)
/// let size = try repackager.outputSize(.lengthPrefixed(.four))
/// // … a buffer of `size` bytes …
/// try repackager.write(input.span, as: .lengthPrefixed(.four), to: &output)
/// ```
///
/// Reuse one, to reuse the memory of its table.
public struct Repackager: Sendable {
  /// A NAL unit of the input.
  public struct Entry: Sendable, Hashable {
    /// Its bytes in the input.
    public var range: Range<Int>
    /// Length of the start code or length prefix in front, in bytes.
    public var prefixLength: Int
    /// Its type, 0 to 31 in H.264 and 0 to 63 in H.265.
    public var type: UInt8
  }

  /// Types of NAL units to drop.
  public var drop = NALUnitTypeSet()

  /// The NAL units of the input, without dropped ones.
  public private(set) var entries: [Entry] = []

  /// NAL units dropped since the last scan.
  public private(set) var droppedCount = 0

  /// The NAL units to write in place of entries, or in front of them, by ascending index.
  private(set) var splices: [(index: Int, nalUnits: [[UInt8]], replaces: Bool)] = []

  let layout: NALUnitLayout
  private(set) var payloadBytes = 0
  private(set) var hasOnlyFourBytePrefixes = true

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
      if unit.startCodeLength != 4 || unit.startCodeOffset != end { hasOnlyFourBytePrefixes = false }
      end = unit.range.upperBound
      append(bytes, unit.range, prefixLength: unit.startCodeLength)
    }
    if end != bytes.count { hasOnlyFourBytePrefixes = false }
  }

  /// Takes the NAL units that a scanner has found.
  ///
  /// - Parameters:
  ///   - accessUnit: lists its NAL units.
  ///   - bytes: its bytes, in Annex B format.
  /// - Returns: whether all are listed; otherwise they must be searched for.
  package mutating func take<SliceHeader>(
    _ accessUnit: ScannedAccessUnit<SliceHeader>, of bytes: Span<UInt8>
  ) -> Bool {
    removeAll()
    hasOnlyFourBytePrefixes = false
    let limit = ScannedAccessUnit<SliceHeader>.nalUnitLimit
    guard let first = accessUnit.nalUnits.first, first.start == 0, accessUnit.nalUnits.count < limit else {
      return false
    }
    for nalUnit in accessUnit.nalUnits {
      guard nalUnit.start >= 0, nalUnit.range.lowerBound > nalUnit.start, nalUnit.range.upperBound <= bytes.count else {
        return false
      }
      append(bytes, nalUnit.range, prefixLength: nalUnit.range.lowerBound - nalUnit.start)
    }
    return true
  }

  /// Finds the NAL units of a length-prefixed access unit.
  ///
  /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length; ``entries`` then has the good NAL units before it.
  public mutating func scanLengthPrefixed(_ bytes: Span<UInt8>, lengthSize: NALLengthSize) throws(BitstreamError) {
    removeAll()
    hasOnlyFourBytePrefixes = lengthSize == .four
    var units = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize)
    var end = 0
    do throws(BitstreamError) {
      while let range = try units.next() {
        if range.lowerBound - lengthSize.byteCount != end { hasOnlyFourBytePrefixes = false }
        end = range.upperBound
        append(bytes, range, prefixLength: lengthSize.byteCount)
      }
      if end != bytes.count { hasOnlyFourBytePrefixes = false }
    } catch {
      hasOnlyFourBytePrefixes = false
      throw error
    }
  }

  /// Finds the NAL units of a length-prefixed access unit in which a careless muxer may have left start codes.
  ///
  /// - Parameters:
  ///   - bytes: the access unit.
  ///   - lengthSize: of its length prefixes.
  ///   - startCodes: the parts in which start codes separate the NAL units; see ``LengthPrefixed/PacketHistory``.
  ///   - limit: the end of the scan, in bytes.
  ///   - isSearched: whether start codes are looked for inside NAL units of this type.
  /// - Returns: the number of start codes found.
  /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length; ``entries`` then has the good NAL units before it.
  package mutating func scanPacket(
    _ bytes: Span<UInt8>, lengthSize: NALLengthSize, startCodes: LengthPrefixed.StartCodes, limit: Int = .max,
    where isSearched: (UInt8) -> Bool = { _ in true }
  ) throws(BitstreamError) -> Int {
    removeAll()
    hasOnlyFourBytePrefixes = lengthSize == .four
    var units = LengthPrefixed.PacketNALUnits(bytes, lengthSize: lengthSize, startCodes)
    var end = 0
    do throws(BitstreamError) {
      while end < limit, let unit = try units.next(where: { [layout] in isSearched(layout.type($0)) }) {
        if unit.range.lowerBound - 4 != end { hasOnlyFourBytePrefixes = false }
        end = unit.range.upperBound
        append(bytes, unit.range, prefixLength: unit.prefixLength)
      }
    } catch {
      hasOnlyFourBytePrefixes = false
      throw error
    }
    if end != bytes.count || units.startCodes.exist { hasOnlyFourBytePrefixes = false }
    return units.startCodes.count
  }

  /// Splits length-prefixed NAL units in which a careless muxer left start codes. Legal NAL units hold no start code,
  /// so nothing is lost.
  ///
  /// - Parameters:
  ///   - bytes: the bytes that were scanned.
  ///   - isSearched: whether a NAL unit is searched; all are, unless the caller excludes some.
  /// - Returns: the number of start codes found.
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
    hasOnlyFourBytePrefixes = false
    var count = 0
    for entry in found {
      guard LengthPrefixed.holdsStartCode(bytes, in: entry.range) else {
        append(bytes, entry.range, prefixLength: entry.prefixLength)
        continue
      }
      let part = bytes.extracting(entry.range)
      // Anything in front of the first start code is a NAL unit of its own.
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

  /// Drops NAL units that were found.
  package mutating func drop(where isUnwanted: (Entry) -> Bool) {
    let count = entries.count
    entries.removeAll { entry in
      guard isUnwanted(entry) else { return false }
      payloadBytes -= entry.range.count
      return true
    }
    droppedCount += count - entries.count
  }

  /// Drops NAL units that begin in these parts of the input.
  ///
  /// - Parameter ranges: in ascending order, as ``ScannedAccessUnit/dropped``.
  package mutating func drop(_ ranges: [Range<Int>]) {
    var index = 0
    drop(where: { entry in
      while index < ranges.count, ranges[index].upperBound <= entry.range.lowerBound { index += 1 }
      return index < ranges.count && ranges[index].contains(entry.range.lowerBound)
    })
  }

  /// A repackager for a part of the input.
  ///
  /// - Parameters:
  ///   - range: its indices in ``entries``; indices out of bounds are ignored.
  ///   - origin: the start of the part in the input, in bytes; NAL units in front of it are left out.
  package func part(_ range: Range<Int>, origin: Int) -> Repackager {
    var part = Repackager(layout)
    part.drop = drop
    // The bytes around the NAL units of a part are not known here.
    part.hasOnlyFourBytePrefixes = false
    for entry in entries[range.clamped(to: entries.indices)] where entry.range.lowerBound >= origin {
      let range = entry.range.lowerBound - origin..<entry.range.upperBound - origin
      part.entries.append(Entry(range: range, prefixLength: entry.prefixLength, type: entry.type))
      part.payloadBytes += range.count
    }
    return part
  }

  // MARK: Replacing

  /// Has other NAL units written in place of one of ``entries``. Call this after everything was dropped, once for
  /// each entry at most, in ascending order.
  ///
  /// - Parameters:
  ///   - nalUnits: the NAL units to write; none to leave the entry out.
  ///   - index: the entry's; one that is not there changes nothing.
  package mutating func replace(with nalUnits: [[UInt8]], at index: Int) {
    splice(nalUnits, at: index, replaces: true)
  }

  /// Has NAL units written in front of one of ``entries``, in the order of ``replace(with:at:)``.
  package mutating func insert(_ nalUnits: [[UInt8]], before index: Int) {
    splice(nalUnits, at: index, replaces: false)
  }

  /// Has another NAL unit written in front of one of ``entries``, behind those inserted there. Call this after
  /// ``replace(with:at:)`` and ``insert(_:before:)``.
  package mutating func insert(_ nalUnit: [UInt8], directlyBefore index: Int) {
    guard entries.indices.contains(index) else { return }
    payloadBytes += nalUnit.count
    let place = splices.firstIndex { $0.index >= index } ?? splices.count
    if place < splices.count, splices[place].index == index {
      // Replacements come last.
      splices[place].nalUnits.insert(nalUnit, at: splices[place].replaces ? 0 : splices[place].nalUnits.count)
    } else {
      splices.insert((index, [nalUnit], false), at: place)
    }
  }

  /// The NAL units that are written in place of one of ``entries``; nil if it is written as it is.
  package func replacement(at index: Int) -> [[UInt8]]? {
    splices.first { $0.index == index && $0.replaces }?.nalUnits
  }

  private mutating func splice(_ nalUnits: [[UInt8]], at index: Int, replaces: Bool) {
    guard entries.indices.contains(index), index > splices.last?.index ?? -1 else { return }
    splices.append((index, nalUnits, replaces))
    payloadBytes += nalUnits.reduce(replaces ? -entries[index].range.count : 0) { $0 + $1.count }
  }

  /// Whether other NAL units are written than those that were found.
  package var isSpliced: Bool { !splices.isEmpty }

  /// How many NAL units are written.
  package var outputCount: Int {
    splices.reduce(entries.count) { $0 + $1.nalUnits.count - ($1.replaces ? 1 : 0) }
  }

  private mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    if !splices.isEmpty { splices.removeAll() }
    payloadBytes = 0
    droppedCount = 0
    hasOnlyFourBytePrefixes = true
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
}

/// The position of `nal_unit_type` in a NAL unit header: all that repackaging needs of a codec.
struct NALUnitLayout: Sendable, Hashable {
  /// Bits of the first byte below the type.
  let typeShift: UInt8
  /// The bits of the type.
  let typeMask: UInt8
  /// The type of access unit delimiters.
  let accessUnitDelimiter: UInt8

  /// ITU-T H.264, 7.3.1.
  static var h264: NALUnitLayout { NALUnitLayout(typeShift: 0, typeMask: 0x1F, accessUnitDelimiter: 9) }
  /// ITU-T H.265, 7.3.1.2.
  static var h265: NALUnitLayout { NALUnitLayout(typeShift: 1, typeMask: 0x3F, accessUnitDelimiter: 35) }

  /// `nal_unit_type` of a NAL unit that begins with this byte.
  func type(_ byte: UInt8) -> UInt8 { byte >> typeShift & typeMask }
}

extension FormatDescription.Codec {
  var nalUnitLayout: NALUnitLayout {
    switch self {
    case .h264: .h264
    case .h265: .h265
    }
  }
}
