// SPDX-License-Identifier: MPL-2.0

// Writing the NAL units that were found.
extension Repackager {
  /// An access unit in another packaging: finds its NAL units, leaves out those to ``drop``, and writes the others.
  ///
  /// ```
  /// var repackager = Repackager(codec: .h264)
  /// let sample = try repackager.packaged(accessUnit.span, from: .annexB, as: .lengthPrefixed(.four))
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: the access unit.
  ///   - input: its packaging.
  ///   - output: the packaging of the result.
  ///   - insertions: NAL units to put in front, behind an access unit delimiter of the input.
  /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length of the input; `.lengthNotRepresentable` when a NAL
  ///   unit is too long for the output's length prefixes.
  public mutating func packaged(
    _ bytes: Span<UInt8>, from input: NALPackaging, as output: NALPackaging, inserting insertions: [[UInt8]] = []
  ) throws(BitstreamError) -> [UInt8] {
    switch input {
    case .annexB: scanAnnexB(bytes)
    case .lengthPrefixed(let size): try scanLengthPrefixed(bytes, lengthSize: size)
    }
    var result = [UInt8](repeating: 0, count: try outputSize(output, inserting: insertions))
    var target = result.mutableSpan
    try write(bytes, as: output, inserting: insertions, to: &target)
    return result
  }

  /// Whether ``writeInPlace(_:as:)`` is possible: every prefix has four bytes, nothing lies between the NAL units,
  /// nothing is dropped, and the output's prefixes have four bytes too.
  public func canWriteInPlace(as packaging: NALPackaging) -> Bool {
    hasOnlyFourBytePrefixes && droppedCount == 0 && splices.isEmpty && packaging.prefixLength == 4
  }

  /// The exact number of bytes that ``write(_:as:inserting:to:)`` writes.
  ///
  /// - Parameters:
  ///   - packaging: of the output.
  ///   - insertions: NAL units to put in front, such as an access unit delimiter or parameter sets.
  /// - Throws: `.lengthNotRepresentable` when a NAL unit is too long for its length prefix; `bitOffset` is its
  ///   position.
  public func outputSize(_ packaging: NALPackaging, inserting insertions: [[UInt8]] = []) throws(BitstreamError) -> Int
  {
    if case .lengthPrefixed(let size) = packaging {
      var rest = splices[...]
      for (index, entry) in entries.enumerated() {
        if let splice = rest.first, splice.index == index {
          rest.removeFirst()
          for unit in splice.nalUnits { try size.check(unit.count) }
          if splice.replaces { continue }
        }
        try size.check(entry.range.count, at: entry.range.lowerBound)
      }
      for unit in insertions { try size.check(unit.count) }
    }
    return insertions.reduce(payloadBytes + outputCount * packaging.prefixLength) {
      $0 + $1.count + packaging.prefixLength
    }
  }

  /// Writes the access unit in another packaging.
  ///
  /// An access unit delimiter of the input stays in front of the insertions.
  ///
  /// - Parameters:
  ///   - bytes: the bytes that were scanned.
  ///   - packaging: of the output.
  ///   - insertions: NAL units to put in front.
  ///   - output: at least ``outputSize(_:inserting:)`` bytes.
  /// - Returns: the number of bytes written.
  /// - Throws: `.lengthNotRepresentable`, or `.outputTooSmall` when `output` is too small, or `bytes` are not those
  ///   scanned.
  @discardableResult
  public func write(
    _ bytes: Span<UInt8>, as packaging: NALPackaging, inserting insertions: [[UInt8]] = [],
    to output: inout MutableSpan<UInt8>
  ) throws(BitstreamError) -> Int {
    try write(bytes, as: packaging, inserting: insertions, before: nil, to: &output)
  }

  /// Writes the NAL units before the tail, which stays as it is, or all of them without a tail. `output` has at least
  /// the bytes of ``outputSize(_:inserting:)`` without the tail.
  @discardableResult
  package func write(
    _ bytes: Span<UInt8>, as packaging: NALPackaging, inserting insertions: [[UInt8]], before tail: Tail?,
    to output: inout MutableSpan<UInt8>
  ) throws(BitstreamError) -> Int {
    guard try outputSize(packaging, inserting: insertions) - (tail?.range.count ?? 0) <= output.count else {
      throw BitstreamError(.outputTooSmall, "access unit", byteOffset: output.count)
    }
    var offset = 0
    var next = 0
    var rest = splices[...]
    if !insertions.isEmpty {
      while next < entries.count, entries[next].type == layout.accessUnitDelimiter {
        try put(bytes, next, &rest, as: packaging, to: &output, at: &offset)
        next += 1
      }
      for unit in insertions { try Self.put(unit.span, 0..<unit.count, as: packaging, to: &output, at: &offset) }
    }
    while next < tail?.index ?? entries.count {
      try put(bytes, next, &rest, as: packaging, to: &output, at: &offset)
      next += 1
    }
    // NAL units may be spliced in front of the tail.
    for unit in rest.first?.nalUnits ?? [] {
      try Self.put(unit.span, 0..<unit.count, as: packaging, to: &output, at: &offset)
    }
    return offset
  }

  /// Writes an entry, or its replacement.
  private func put(
    _ bytes: Span<UInt8>, _ index: Int, _ rest: inout ArraySlice<(index: Int, nalUnits: [[UInt8]], replaces: Bool)>,
    as packaging: NALPackaging, to output: inout MutableSpan<UInt8>, at offset: inout Int
  ) throws(BitstreamError) {
    if let splice = rest.first, splice.index == index {
      rest.removeFirst()
      for unit in splice.nalUnits { try Self.put(unit.span, 0..<unit.count, as: packaging, to: &output, at: &offset) }
      if splice.replaces { return }
    }
    try Self.put(bytes, entries[index].range, as: packaging, to: &output, at: &offset)
  }

  /// Changes the packaging in place.
  ///
  /// - Throws: `.unsupported` unless ``canWriteInPlace(as:)``, `.outputTooSmall` when `bytes` are not those scanned;
  ///   `.lengthNotRepresentable`.
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

  // MARK: The tail

  /// The end of an access unit that is written as it is.
  package struct Tail {
    /// The first of ``entries`` that is in it.
    let index: Int
    /// Its bytes in the input.
    package let range: Range<Int>
  }

  /// The end of the input, behind all that is changed, that is written as it is; nil for none.
  ///
  /// - Parameters:
  ///   - byteCount: of the bytes that were scanned.
  ///   - packaging: of input and output.
  ///   - isInserting: whether NAL units are put in front.
  package func tail(of byteCount: Int, _ packaging: NALPackaging, isInserting: Bool) -> Tail? {
    var index = splices.last.map { $0.replaces ? $0.index + 1 : $0.index } ?? 0
    // Insertions come behind a delimiter.
    while isInserting, index < entries.count, entries[index].type == layout.accessUnitDelimiter { index += 1 }
    guard index < entries.count else { return nil }
    let start = entries[index].range.lowerBound - packaging.prefixLength
    var end = start
    for entry in entries[index...] {
      guard entry.prefixLength == packaging.prefixLength, entry.range.lowerBound == end + entry.prefixLength else {
        return nil
      }
      end = entry.range.upperBound
    }
    return end == byteCount ? Tail(index: index, range: start..<end) : nil
  }
}
