// SPDX-License-Identifier: MPL-2.0

extension AccessUnitScanner {
  /// Looks for the end of the access unit, or NAL unit, that begins with the data.
  mutating func scanByteStream(_ bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> Finding {
    let isWholePiece =
      isDraining || settings.inputAlignment == .accessUnit || settings.inputAlignment == .nalUnits && isMarked
    let isWholeNALUnit = isWholePiece || settings.inputAlignment == .nalUnits
    if settings.inputAlignment == .accessUnit, packetRemainder == 0 {
      packetRemainder = bytes.count
      detector.reset()
    }
    if !cursor.isInNALUnit, current.nalUnitCount == 0 {
      if let result = findFirstStartCode(bytes, isComplete: isWholeNALUnit) { return result }
    }
    if settings.inputAlignment == .none, lookAhead.isSearching, !hasParameterSets,
      awaitsParameterSets(bytes, isDraining)
    {
      return .needsMoreData
    }
    if settings.cutsNALUnits, !hasParameterSets, let result = searchHeaders(bytes, isComplete: isWholeNALUnit) {
      if !isDraining || result != .needsMoreData { return result }
    }
    while true {
      if !cursor.isInNALUnit {
        // The data ended with a NAL unit; the next start code may have come.
        guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
          return isWholePiece ? complete(bytes.count, endsAccessUnit: true) : waiting(bytes)
        }
        cursor.begin(prefix: prefix, zeroByte: prefix > current.end && bytes[prefix - 1] == 0)
      }
      let next = AnnexB.startCode(in: bytes, from: cursor.searched)
      let isComplete = next != nil || isWholeNALUnit
      let headLimit = cursor.payload + NALUnitCursor.headLength
      // Zeros after a NAL unit do not belong to it.
      let end = trimmedEnd(bytes, isComplete ? next ?? bytes.count : min(bytes.count, headLimit))
      if !cursor.isDetected {
        let head = bytes.extracting(cursor.payload..<min(end, headLimit))
        guard isComplete || distinguishesPictures(head) else { return waiting(bytes) }
        let start = detect(head)
        // A unit without anything but this NAL unit's prefixes does not end here.
        if current.nalUnitCount > 0, start > 0, cursor.beginsAccessUnit || settings.cutsNALUnits {
          if start < cursor.start { leavePrefixes(from: start) }
          return complete(start, endsAccessUnit: cursor.beginsAccessUnit)
        }
      }
      guard isComplete else { return waiting(bytes) }
      take(bytes, cursor.payload..<end, start: cursor.start)
      if let next {
        cursor.begin(prefix: next, zeroByte: next > end && bytes[next - 1] == 0)
      } else {
        cursor.isInNALUnit = false
        cursor.searched = bytes.count
        if isWholePiece { return complete(bytes.count, endsAccessUnit: true) }
        return settings.cutsNALUnits ? complete(bytes.count, endsAccessUnit: false) : .needsMoreData
      }
    }
  }

  /// There is no start code but perhaps in the last two bytes.
  private mutating func waiting(_ bytes: Span<UInt8>) -> Finding {
    cursor.searched = max(cursor.searched, bytes.count - 2)
    return .needsMoreData
  }

  /// Puts the cursor at the first start code. Returns a finding if that is not the start of the data.
  private mutating func findFirstStartCode(_ bytes: Span<UInt8>, isComplete: Bool) -> Finding? {
    guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
      // A start code may begin in the last three bytes.
      let count = isComplete ? bytes.count : max(0, bytes.count - 3)
      cursor.searched = 0
      return count > 0 ? .garbage(count) : .needsMoreData
    }
    cursor.begin(prefix: prefix, zeroByte: prefix > 0 && bytes[prefix - 1] == 0)
    return cursor.start > 0 ? .garbage(cursor.start) : nil
  }

  /// Holds NAL units back until there are parameter sets for caps, and discards the slices before.
  private mutating func searchHeaders(_ bytes: Span<UInt8>, isComplete: Bool) -> Finding? {
    while true {
      let before = headerSearch
      guard let place = headerSearch.next(in: bytes, isComplete: isComplete) else { return .needsMoreData }
      // Nothing is output before the header of the next NAL unit is there.
      guard isComplete || headerSearch.searchedOffset + Codec.nalUnitHeaderLength <= bytes.count else {
        headerSearch = before
        return .needsMoreData
      }
      let nalUnit = bytes.extracting(place.range)
      let type = Codec.NALUnitType(headerByte: nalUnit[0])
      if type.isVCL, nalUnit.count > Codec.nalUnitHeaderLength {
        cursor = NALUnitCursor()
        countMissingParameterSets()
        return .unusable(place.range.upperBound)
      }
      if type == .sequenceParameterSet || type == .pictureParameterSet { store(nalUnit) }
      if hasParameterSets { return nil }
    }
  }

  /// A stream that was cut between its parameter sets and its first random access point may soon repeat them: then
  /// nothing is lost. Returns whether more data is needed to decide.
  private mutating func awaitsParameterSets(_ bytes: Span<UInt8>, _ isDraining: Bool) -> Bool {
    let window = bytes.extracting(first: lookAheadLimit)
    let isWhole = isDraining && window.count == bytes.count
    while let place = lookAhead.units.next(in: window, isComplete: isWhole) {
      let nalUnit = window.extracting(place.range)
      let type = Codec.NALUnitType(headerByte: nalUnit[0])
      guard lookAhead.continues(after: type) else { return false }
      guard type == .sequenceParameterSet || type == .pictureParameterSet else { continue }
      _ = try? lookAhead.parameterSets.insert(nalUnit)
      guard lookAhead.parameterSets.canReadSlices else { continue }
      takeParameterSetsAhead()
      return false
    }
    // The header byte of a picture decides. Until it is there, nothing may be scanned: the result would depend on how
    // the data comes in pieces.
    if let start = lookAhead.units.pendingStartCode, let header = AnnexB.header(in: window, behind: start) {
      guard lookAhead.continues(after: Codec.NALUnitType(headerByte: header)) else { return false }
    }
    guard lookAhead.startsAtRandomAccess || !isWhole else { return false }
    // Only once: in a stream without parameter sets not every picture may cost a search.
    lookAhead.isOver = isWhole || window.count == lookAheadLimit
    return !lookAhead.isOver
  }

  private mutating func takeParameterSetsAhead() {
    lookAhead.isOver = true
    guard lookAhead.startsAtRandomAccess else { return }
    for nalUnit in lookAhead.parameterSets.nalUnits { store(nalUnit.span) }
    lookAhead.parameterSets.removeAll()
    record(.lateParameterSets)
  }

  /// Whether the first bytes of a NAL unit are enough for the detector.
  private func distinguishesPictures(_ head: Span<UInt8>) -> Bool {
    let isWhole = head.count >= NALUnitCursor.headLength
    guard head.count > Codec.nalUnitHeaderLength, !isWhole, Codec.role(of: head) == .slice else {
      return head.count > Codec.nalUnitHeaderLength
    }
    do throws(BitstreamError) {
      _ = try Codec.SliceHeader(nalUnit: head, parameterSets: parameterSets, depth: .pictureIdentity)
      return true
    } catch {
      return false
    }
  }

  /// Feeds the head of the NAL unit at the cursor to the detector. Returns the end of the piece before it.
  private mutating func detect(_ head: Span<UInt8>) -> Int {
    cursor.isDetected = true
    detectedSlice = nil
    guard !Self.isLeftOut(head) || Self.endsAccessUnit(head) else { return cursor.start }
    let boundary: AccessUnitBoundary
    (boundary, detectedSlice) = detector.feed(head, parameterSets: parameterSets)
    cursor.beginsAccessUnit = boundary == .begins
    var start = cursor.start
    if boundary == .followsNext {
      if cursor.prefixStart == nil {
        cursor.prefixStart = cursor.start
        cursor.endBeforePrefix = current.end
      }
    } else {
      // The prefix NAL unit was already returned when NAL units are cut.
      if !settings.cutsNALUnits, cursor.beginsAccessUnit, let prefixStart = cursor.prefixStart { start = prefixStart }
      cursor.prefixStart = nil
    }
    return start
  }

  /// Prefix NAL units that were taken into the current access unit belong to the next one.
  private mutating func leavePrefixes(from start: Int) {
    current.end = cursor.endBeforePrefix
    guard let first = current.nalUnits.firstIndex(where: { $0.start >= start }) else { return }
    carriedOver = current.nalUnits[first...].map { prefix in
      ScannedNALUnit(
        start: prefix.start - start, range: prefix.range.lowerBound - start..<prefix.range.upperBound - start,
        contents: prefix.contents)
    }
    current.nalUnits.removeSubrange(first...)
  }

  private func trimmedEnd(_ bytes: Span<UInt8>, _ limit: Int) -> Int {
    var end = limit
    while end > cursor.payload, bytes[end - 1] == 0 { end -= 1 }
    return end
  }
}

/// Bytes of that search at most: a few pictures.
private let lookAheadLimit = 1 << 20

/// The search for parameter sets after a first random access point.
struct LookAhead<ParameterSets: ParameterSetStore>: Sendable {
  var units = AnnexB.Scanner()
  var parameterSets = ParameterSets()
  /// The first picture is a random access point.
  var startsAtRandomAccess = false
  /// The current access unit begins with another picture: there is nothing to wait for.
  var isDeclined = false
  /// They were found, or are not there.
  var isOver = false

  /// Whether to continue.
  var isSearching: Bool { !isOver && !isDeclined }

  /// Whether to continue after a NAL unit of this type. Pictures in front of the first random access point cannot be
  /// decoded whatever comes.
  mutating func continues(after type: some NALUnitTypeSyntax) -> Bool {
    if type.isRandomAccessPoint { startsAtRandomAccess = true }
    isDeclined = type.isVCL && !startsAtRandomAccess
    return !isDeclined
  }

  /// An access unit begins, of which a part may have been searched.
  mutating func beginPiece() { isDeclined = false }
}
