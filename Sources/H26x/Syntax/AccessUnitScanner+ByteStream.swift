// SPDX-License-Identifier: MPL-2.0

extension AccessUnitScanner {
  /// Looks for the end of the unit that begins where the data begins.
  mutating func scanByteStream(_ bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> Finding {
    let isWholeUnit =
      isDraining || settings.inputAlignment == .accessUnit || settings.inputAlignment == .nalUnits && isMarked
    let isWholeNALUnit = isWholeUnit || settings.inputAlignment == .nalUnits
    if settings.inputAlignment == .accessUnit, packetRemainder == 0 {
      packetRemainder = bytes.count
      detector.reset()
    }
    if !cursor.isInNALUnit, unit.nalUnitCount == 0 {
      if let result = findFirstStartCode(bytes, isComplete: isWholeNALUnit) { return result }
    }
    if settings.inputAlignment == .none, lookAhead.isGoingOn, !hasParameterSets,
      awaitsParameterSets(bytes, isDraining)
    {
      return .needsMoreData
    }
    if settings.cutsNALUnits, !hasParameterSets, let result = searchHeaders(bytes, isComplete: isWholeNALUnit) {
      if !isDraining || result != .needsMoreData { return result }
    }
    while true {
      if !cursor.isInNALUnit {
        // The data ended with a NAL unit; the next one's start code may be there now.
        guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
          return isWholeUnit ? complete(bytes.count, endsAccessUnit: true) : waiting(bytes)
        }
        cursor.begin(prefix: prefix, zeroByte: prefix > unit.end && bytes[prefix - 1] == 0)
      }
      let next = AnnexB.startCode(in: bytes, from: cursor.searched)
      let isComplete = next != nil || isWholeNALUnit
      let headLimit = cursor.payload + NALUnitCursor.headLength
      // The zeros behind a NAL unit are none of its bytes.
      let end = trimmedEnd(bytes, isComplete ? next ?? bytes.count : min(bytes.count, headLimit))
      if !cursor.isDetected {
        let head = bytes.extracting(cursor.payload..<min(end, headLimit))
        guard isComplete || tellsPicturesApart(head) else { return waiting(bytes) }
        let start = detect(head)
        // Nothing ends where the unit in hand begins: it has nothing yet but this NAL unit's prefixes.
        if unit.nalUnitCount > 0, start > 0, cursor.beginsAccessUnit || settings.cutsNALUnits {
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
        if isWholeUnit { return complete(bytes.count, endsAccessUnit: true) }
        return settings.cutsNALUnits ? complete(bytes.count, endsAccessUnit: false) : .needsMoreData
      }
    }
  }

  /// Everything but the last two bytes, which may begin a start code, was searched in vain.
  private mutating func waiting(_ bytes: Span<UInt8>) -> Finding {
    cursor.searched = max(cursor.searched, bytes.count - 2)
    return .needsMoreData
  }

  /// Puts the cursor at the first start code. Answers a result when that is not where the data begins.
  private mutating func findFirstStartCode(_ bytes: Span<UInt8>, isComplete: Bool) -> Finding? {
    guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
      // A start code may have begun in the last three bytes.
      let count = isComplete ? bytes.count : max(0, bytes.count - 3)
      cursor.searched = 0
      return count > 0 ? .garbage(count) : .needsMoreData
    }
    cursor.begin(prefix: prefix, zeroByte: prefix > 0 && bytes[prefix - 1] == 0)
    return cursor.start > 0 ? .garbage(cursor.start) : nil
  }

  /// Holds NAL units back until there are parameter sets to make caps of, and throws away the slices before.
  private mutating func searchHeaders(_ bytes: Span<UInt8>, isComplete: Bool) -> Finding? {
    while true {
      let before = headerSearch
      guard let place = headerSearch.next(in: bytes, isComplete: isComplete) else { return .needsMoreData }
      // Nothing goes out before the header of the NAL unit behind it is there.
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

  /// A stream that was cut in front of its first random access point, but behind the parameter sets, may say them again soon:
  /// then nothing is lost. Answers whether more data is needed to know.
  private mutating func awaitsParameterSets(_ bytes: Span<UInt8>, _ isDraining: Bool) -> Bool {
    let window = bytes.extracting(first: lookAheadLimit)
    let isWhole = isDraining && window.count == bytes.count
    while let place = lookAhead.units.next(in: window, isComplete: isWhole) {
      let nalUnit = window.extracting(place.range)
      let type = Codec.NALUnitType(headerByte: nalUnit[0])
      guard lookAhead.goesOn(behind: type) else { return false }
      guard type == .sequenceParameterSet || type == .pictureParameterSet else { continue }
      _ = try? lookAhead.parameterSets.insert(nalUnit)
      guard lookAhead.parameterSets.canReadSlices else { continue }
      takeParameterSetsAhead()
      return false
    }
    // The first byte of a picture is enough to decide. Until it is there, nothing of the unit may be scanned: what comes
    // of its own parameter sets would depend on how the data comes in pieces.
    if let start = lookAhead.units.pendingStartCode, let header = AnnexB.header(in: window, behind: start) {
      guard lookAhead.goesOn(behind: Codec.NALUnitType(headerByte: header)) else { return false }
    }
    guard lookAhead.startsAtRandomAccess || !isWhole else { return false }
    // Once is enough: not every picture of a stream without parameter sets may cost a search.
    lookAhead.isOver = isWhole || window.count == lookAheadLimit
    return !lookAhead.isOver
  }

  private mutating func takeParameterSetsAhead() {
    lookAhead.isOver = true
    guard lookAhead.startsAtRandomAccess else { return }
    for nalUnit in lookAhead.parameterSets.nalUnits { store(nalUnit.span) }
    lookAhead.parameterSets.removeAll()
    tell(.lateParameterSets)
  }

  /// Whether the first bytes of a NAL unit are enough for the detector.
  private func tellsPicturesApart(_ head: Span<UInt8>) -> Bool {
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

  /// Shows the head of the NAL unit at the cursor to the detector. Answers where the unit before it ends.
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
        cursor.endBeforePrefix = unit.end
      }
    } else {
      // The prefix NAL unit went out already when NAL units are cut.
      if !settings.cutsNALUnits, cursor.beginsAccessUnit, let prefixStart = cursor.prefixStart { start = prefixStart }
      cursor.prefixStart = nil
    }
    return start
  }

  /// The prefix NAL units that were taken into the unit in hand belong to the next one.
  private mutating func leavePrefixes(from start: Int) {
    unit.end = cursor.endBeforePrefix
    guard let first = unit.nalUnits.firstIndex(where: { $0.start >= start }) else { return }
    carriedOver = unit.nalUnits[first...].map { prefix in
      ScannedNALUnit(
        start: prefix.start - start, range: prefix.range.lowerBound - start..<prefix.range.upperBound - start,
        contents: prefix.contents)
    }
    unit.nalUnits.removeSubrange(first...)
  }

  private func trimmedEnd(_ bytes: Span<UInt8>, _ limit: Int) -> Int {
    var end = limit
    while end > cursor.payload, bytes[end - 1] == 0 { end -= 1 }
    return end
  }
}

/// How far that search goes, in bytes: a few pictures.
private let lookAheadLimit = 1 << 20

/// The search behind a first random access point for its parameter sets.
struct LookAhead<ParameterSets: ParameterSetStore>: Sendable {
  var units = AnnexB.Scanner()
  var parameterSets = ParameterSets()
  /// The first picture is a random access point.
  var startsAtRandomAccess = false
  /// The unit in hand begins with another picture: however its data comes in pieces, there is nothing to wait for.
  var isDeclined = false
  /// They were found, or looked for in vain.
  var isOver = false

  /// Whether to look on.
  var isGoingOn: Bool { !isOver && !isDeclined }

  /// Whether to look on behind a NAL unit of this type. Pictures in front of the first random access point cannot be
  /// decoded whatever comes.
  mutating func goesOn(behind type: some NALUnitTypeSyntax) -> Bool {
    if type.isRandomAccessPoint { startsAtRandomAccess = true }
    isDeclined = type.isVCL && !startsAtRandomAccess
    return !isDeclined
  }

  /// A unit begins; what was searched of it already counts.
  mutating func beginUnit() { isDeclined = false }
}
