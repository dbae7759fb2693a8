// SPDX-License-Identifier: MPL-2.0

/// Changes what the headers of a stream announce, and nothing else: colour, shape, rate. Slices, start codes and all
/// that no edit concerns come out byte for byte.
///
/// Make an editor for a stream, pass it the configuration record, if there is one, and then every access unit in
/// decoding order.
///
/// ```swift
/// var editor = StreamEditor<H264>([.colour(ColourDescription(primaries: 1, transfer: 1, matrix: 1))])
/// if let edited = try editor.edit(accessUnit.span, packaging: .annexB) { accessUnit = edited }
/// ```
public struct StreamEditor<Codec: StreamEditing>: Sendable {
  /// The edits, in the order in which they are applied.
  public let edits: [StreamEdit]
  /// What was changed so far, each syntax element of each version of a parameter set once. At most ``changeLimit``.
  public private(set) var changes: [FieldChange] = []
  /// Why the last parameter set that could not be read, and was left as it was, could not; nil when there was none.
  public private(set) var lastUnreadable: BitstreamError?

  /// Changes listed at most.
  public static var changeLimit: Int { 4096 }
  /// Versions of parameter sets remembered at most.
  private static var memory: Int { 64 }

  private var sets = Codec.ParameterSets()
  private var known: [(original: [UInt8], edited: [UInt8]?)] = []

  /// Creates an editor. Each edit is checked against the parameter sets that it changes, when these come.
  public init(_ edits: [StreamEdit]) { self.edits = edits }

  /// Edits the parameter sets of a configuration record, and the fields of the record that repeat theirs.
  ///
  /// - Throws: the refusal of an edit, with nothing changed.
  public mutating func edit(
    _ record: Codec.ConfigurationRecord
  ) throws(StreamEditError) -> Codec.ConfigurationRecord {
    let nalUnits = record.nalUnits
    for nalUnit in nalUnits { remember(nalUnit.span) }
    return try Codec.edited(record) { (nalUnit: [UInt8]) throws(StreamEditError) -> [UInt8]? in
      try edited(nalUnit.span)
    }
  }

  /// Edits an access unit.
  ///
  /// Any whole number of NAL units can be passed in its place. Bytes in front of the first start code, between NAL units
  /// and after a bad length stay where they are.
  ///
  /// - Returns: the edited access unit; nil when it stays as it is.
  /// - Throws: the refusal of an edit; `.lengthNotRepresentable` when a parameter set has become too long for the length
  ///   prefix. The access unit is then not to be used.
  public mutating func edit(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging
  ) throws(StreamEditError) -> [UInt8]? {
    guard !edits.isEmpty else { return nil }
    let ranges = packaging.nalUnits(of: accessUnit)
    for range in ranges { remember(accessUnit.extracting(range)) }
    var output: [UInt8] = []
    var copied = 0
    for range in ranges {
      guard let nalUnit = try edited(accessUnit.extracting(range)) else { continue }
      output += [UInt8](copying: accessUnit.extracting(copied..<range.lowerBound))
      if case .lengthPrefixed(let size) = packaging { try output.replaceLength(size, nalUnit.count) }
      output += nalUnit
      copied = range.upperBound
    }
    guard copied > 0 else { return nil }
    output += [UInt8](copying: accessUnit.extracting(copied..<accessUnit.count))
    return output
  }

  /// Takes a parameter set into the store of those before the edits.
  private mutating func remember(_ nalUnit: Span<UInt8>) {
    guard Self.isParameterSet(nalUnit) else { return }
    do throws(BitstreamError) {
      try sets.insert(nalUnit)
    } catch {
      // Slices that refer to it cannot be read; nothing else depends on it here.
    }
  }

  private static func isParameterSet(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count >= Codec.nalUnitHeaderLength && Codec.NALUnitType(headerByte: nalUnit[0]).isParameterSet
  }

  /// What takes a NAL unit's place; nil when it stays.
  private mutating func edited(_ nalUnit: Span<UInt8>) throws(StreamEditError) -> [UInt8]? {
    guard Self.isParameterSet(nalUnit) else { return nil }
    if let index = known.firstIndex(where: { BulkBytes.areEqual($0.original, nalUnit) }) { return known[index].edited }
    let result = try Codec.edited(parameterSet: nalUnit, edits, sets: sets)
    var edited: [UInt8]?
    switch result {
    case .unchanged: break
    case .unreadable(let error): lastUnreadable = error
    case .replaced(let bytes, let new):
      edited = bytes
      changes += new.prefix(max(0, Self.changeLimit - changes.count))
    }
    if known.count == Self.memory { known.removeFirst() }
    known.append(([UInt8](copying: nalUnit), edited))
    return edited
  }
}

extension [UInt8] {
  /// Writes a length in place of the length prefix at the end.
  fileprivate mutating func replaceLength(_ size: NALLengthSize, _ length: Int) throws(StreamEditError) {
    guard length <= size.maximumNALUnitLength else {
      throw StreamEditError(
        .lengthNotRepresentable, "NALUnitLength", Int64(length),
        "the length prefix is too short for the edited NAL unit",
        clause: "ISO/IEC 14496-15 4.3.3")
    }
    removeLast(size.byteCount)
    for index in 0..<size.byteCount {
      append(UInt8(truncatingIfNeeded: length >> (8 * (size.byteCount - 1 - index))))
    }
  }
}
