// SPDX-License-Identifier: MPL-2.0

/// The scanner of all codecs: see ``AccessUnitScanning``, whose methods call it. A piece is an access unit, or a NAL
/// unit when those are cut.
public struct AccessUnitScanner<Codec: VideoCodecSyntax>: Sendable {
  typealias Finding = ScannerFinding
  typealias InputAlignment = ScannerInputAlignment
  typealias Errors = ScannerErrors
  typealias Notice = ScannerNotice<Codec.NALUnitType>
  @usableFromInline typealias AccessUnit = ScannedAccessUnit<Codec.SliceHeader>

  /// The caller's settings.
  public var settings = ScannerSettings()

  // MARK: Found out

  /// The parameter sets so far.
  public private(set) var parameterSets = Codec.ParameterSets()
  /// The id of the SPS that came last.
  @usableFromInline package private(set) var lastSequenceParameterSetID: SequenceParameterSetID?
  /// Parameter sets that were new or changed.
  @usableFromInline package private(set) var parameterSetChanges: UInt64 = 0
  /// NAL units so far, by `nal_unit_type`.
  public private(set) var nalUnitCounts = InlineArray<64, UInt64>(repeating: 0)
  /// Counts of NAL units that could not be read so far.
  public private(set) var errors = ScannerErrors()
  /// Whether a recovery point SEI message was ever seen.
  @usableFromInline package private(set) var hasSeenRecoveryPoint = false
  /// The contents of the access unit so far: when NAL units are cut, of all that came.
  @usableFromInline package internal(set) var accessUnitContents: AccessUnitContents = []

  private var notices: [Notice] = []
  private var hasSeenForeignTypes = false
  private var hasSeenStartCodes = false
  private var hasUnreadablePictureParameterSet = false
  var lookAhead = LookAhead<Codec.ParameterSets>()

  private var found = AccessUnit()
  private var isFoundTaken = true

  // MARK: The current piece

  var detector = Codec.AccessUnitDetector()
  var cursor = NALUnitCursor()
  /// How far held-back NAL units were searched for the first parameter sets.
  var headerSearch = AnnexB.Scanner()
  @usableFromInline var current = AccessUnit()
  /// Listed NAL units of the next piece.
  var carriedOver: [ScannedNALUnit] = []
  /// The slice header of the NAL unit at the cursor.
  var detectedSlice: Codec.SliceHeader?
  /// Bytes left of an input buffer that holds just one access unit.
  @usableFromInline var packetRemainder = 0
  /// The rest of the packet is after a bad length.
  var isPacketBroken = false
  /// Start codes in the packet.
  private var startCodes = LengthPrefixed.StartCodes()
  private var packets = LengthPrefixed.PacketHistory()

  /// Notices kept between two calls at most.
  private static var noticeLimit: Int { 64 }

  /// Creates a scanner that has seen nothing.
  init() {}

  /// Forgets the position in the stream: the next data need not continue the data before. Parameter sets and counts
  /// are kept.
  mutating func resetPosition() {
    detector.reset()
    cursor = NALUnitCursor()
    headerSearch = AnnexB.Scanner()
    lookAhead.units = AnnexB.Scanner()
    lookAhead.beginPiece()
    current = AccessUnit()
    found = AccessUnit()
    isFoundTaken = true
    carriedOver = []
    detectedSlice = nil
    accessUnitContents = []
    packetRemainder = 0
    isPacketBroken = false
    startCodes = LengthPrefixed.StartCodes()
  }

  /// Forgets the parameter sets.
  mutating func removeParameterSets() {
    parameterSets.removeAll()
    headerSearch = AnnexB.Scanner()
    lastSequenceParameterSetID = nil
    hasUnreadablePictureParameterSet = false
    lookAhead = LookAhead()
  }

  /// Whether nothing of the next piece was seen yet.
  @inlinable package var isBetweenAccessUnits: Bool { current.nalUnitCount == 0 && packetRemainder == 0 }

  /// Whether there are an SPS and a PPS. There may be only those of an extension layer, with which no slice header of
  /// the base can be read.
  @usableFromInline package var hasParameterSets: Bool {
    parameterSets.canReadSlices
      || lastSequenceParameterSetID != nil && parameterSets.hasPictureParameterSet
  }

  /// Takes the piece found last; an empty one when it was taken already.
  mutating func takeAccessUnit() -> AccessUnit {
    var taken = AccessUnit()
    takeAccessUnit(&taken)
    return taken
  }

  /// Takes the piece found last, an empty one when it was taken already, in exchange for one whose memory can be
  /// reused.
  mutating func takeAccessUnit(_ accessUnit: inout AccessUnit) {
    if isFoundTaken { found.removeAll() }
    isFoundTaken = true
    swap(&accessUnit, &found)
  }

  /// The notices since the last call, 64 at most.
  mutating func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }

  mutating func record(_ notice: Notice) {
    if notices.count < Self.noticeLimit { notices.append(notice) }
  }

  // MARK: Scanning

  /// Looks for a piece at the start of the data.
  ///
  /// - Parameters:
  ///   - bytes: the data not consumed yet.
  ///   - isMarked: whether an access unit ends with these bytes.
  ///   - isDraining: whether no more data comes.
  mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> Finding {
    guard bytes.count > 0 else { return .needsMoreData }
    // Less data than before is other data: a file that was truncated meanwhile, for example.
    if bytes.count < max(cursor.searched, current.end) { resetPosition() }
    let finding: Finding
    switch settings.packaging {
    case .annexB: finding = scanByteStream(bytes, isMarked: isMarked, isDraining: isDraining)
    case .lengthPrefixed(let lengthSize): finding = scanPacket(bytes, lengthSize)
    }
    let size = finding.size
    guard size > 0 else { return finding }
    packetRemainder = max(0, packetRemainder - size)
    startCodes.discard(size)
    cursor.discard(size)
    headerSearch.discard(size)
    lookAhead.units.discard(size)
    switch finding {
    case .accessUnit:
      beginPiece()
      isFoundTaken = false
    case .unusable:
      beginPiece()
      isFoundTaken = true
      // When NAL units are cut, an access unit begins with its first usable one.
      if settings.cutsNALUnits { current.contents = found.contents.intersection(.accessUnitStart) }
    case .garbage, .needsMoreData: break
    }
    return finding
  }

  /// Moves the current piece to `found`, and begins the next one.
  private mutating func beginPiece() {
    swap(&found, &current)
    current.removeAll()
    lookAhead.beginPiece()
    if !carriedOver.isEmpty {
      current.nalUnits = carriedOver
      carriedOver = []
    }
  }

  /// Ends the current piece. Decides whether it is usable.
  mutating func complete(_ size: Int, endsAccessUnit: Bool) -> Finding {
    if endsAccessUnit { current.contents.insert(.accessUnitEnd) }
    if !settings.cutsNALUnits { current.contents.insert(.accessUnitStart) }
    guard current.end > 0, lastSequenceParameterSetID != nil else { return .unusable(size) }
    // A piece with an SPS is kept, even if its PPS is missing.
    let isSpared =
      settings.sparesUnreadablePictureParameterSets
      && (hasUnreadablePictureParameterSet || current.contents.contains(.sequenceParameterSet))
    if current.contents.contains(.slice), !isSpared, !hasParameterSets {
      countMissingParameterSets()
      return .unusable(size)
    }
    return .accessUnit(size)
  }

  mutating func countMissingParameterSets() { errors.missingParameterSets += 1 }

  // MARK: NAL units

  /// Whether a NAL unit is useless: truncated after its header, or of a type that only RTP has.
  static func isLeftOut(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count >= Codec.nalUnitHeaderLength else { return true }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    return type.isRTPOnly
      || nalUnit.count == Codec.nalUnitHeaderLength && type != .endOfSequence && type != .endOfStream
  }

  /// Whether a NAL unit that is dropped ends the access unit before it.
  static func endsAccessUnit(_ nalUnit: Span<UInt8>) -> Bool {
    nalUnit.count >= Codec.nalUnitHeaderLength
      && Codec.NALUnitType(headerByte: nalUnit[0]).endsAccessUnitWhenDropped
  }

  /// Adds a complete NAL unit to the current piece.
  ///
  /// - Parameter start: offset of its start code or length.
  mutating func take(_ bytes: Span<UInt8>, _ range: Range<Int>, start: Int) {
    let nalUnit = bytes.extracting(range)
    current.nalUnitCount += 1
    guard !Self.isLeftOut(nalUnit) else { return leaveOut(nalUnit, range, start: start) }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    nalUnitCounts[Int(type.rawValue)] += 1
    if cursor.beginsAccessUnit {
      accessUnitContents = []
      current.contents.insert(.accessUnitStart)
    }
    // Filler data in front of everything fills nothing.
    if type == .fillerData, lastSequenceParameterSetID == nil { return drop(range, start: start) }
    if type.isParameterSet, !store(nalUnit), parameterSets.holdsSet(withIDOf: nalUnit) {
      // Decoders would use its readable part in place of the good one.
      return drop(range, start: start)
    }
    current.end = range.upperBound
    let contents = look(nalUnit, type, range, start: start)
    current.contents.formUnion(contents)
    accessUnitContents.formUnion(current.contents)
    if settings.listsNALUnits { current.list(ScannedNALUnit(start: start, range: range, contents: contents)) }
  }

  private mutating func drop(_ range: Range<Int>, start: Int) {
    current.drop(start..<range.upperBound)
    if settings.listsNALUnits { current.list(ScannedNALUnit(start: start, range: range, contents: nil)) }
  }

  private mutating func leaveOut(_ nalUnit: Span<UInt8>, _ range: Range<Int>, start: Int) {
    drop(range, start: start)
    errors.nalUnits += 1
    guard nalUnit.count > 0, !hasSeenForeignTypes else { return }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    guard type.isRTPOnly else { return }
    hasSeenForeignTypes = true
    record(.foreignType(type))
  }

  /// Adds a NAL unit to the current piece's contents.
  private mutating func look(
    _ nalUnit: Span<UInt8>, _ type: Codec.NALUnitType, _ range: Range<Int>, start: Int
  ) -> AccessUnitContents {
    switch Codec.role(of: nalUnit) {
    case .slice: return lookAtSlice(nalUnit, type, start: start)
    case .slicePart: return .slice
    case .layerSlice:
      // Its base may not be here.
      return accessUnitContents.contains(.slice) ? .slice : [.slice, .pictureStart]
    case .sei:
      if current.seiOffset == nil { current.seiOffset = start }
      return lookAtSEI(nalUnit, range, start: start)
    case .suffixSEI: return lookAtSEI(nalUnit, range, start: start)
    case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension: return .sequenceParameterSet
    case .pictureParameterSet: return .pictureParameterSet
    case .accessUnitDelimiter: return .delimiter
    case .end: return .endOfSequence
    case .filler, .outsideStandard, .other: return []
    }
  }

  private mutating func lookAtSEI(_ nalUnit: Span<UInt8>, _ range: Range<Int>, start: Int) -> AccessUnitContents {
    var contents: AccessUnitContents = .sei
    if SEIMessages.hold(.recoveryPoint, nalUnit, headerLength: Codec.nalUnitHeaderLength) {
      contents.insert(.recoveryPoint)
      hasSeenRecoveryPoint = true
    }
    if current.seiNALUnits.count < AccessUnit.seiLimit {
      current.seiNALUnits.append(ScannedNALUnit(start: start, range: range, contents: contents))
    }
    return contents
  }

  private mutating func lookAtSlice(
    _ nalUnit: Span<UInt8>, _ type: Codec.NALUnitType, start: Int
  ) -> AccessUnitContents {
    let isFirst = current.slice == nil && !accessUnitContents.contains(.slice)
    let isReference = detectedSlice?.isReference ?? Codec.isReference(nalUnit)
    var contents: AccessUnitContents = isReference ? [.slice, .reference] : .slice
    if type.isRandomAccessPoint {
      contents.insert(type.isIDR ? [.randomAccess, .idr] : .randomAccess)
      if current.randomAccessOffset == nil { current.randomAccessOffset = start }
    }
    if type.isSkippedLeading { contents.insert(.skippedLeading) }
    guard let slice = detectedSlice else {
      errors.slices += 1
      contents.insert(.unreadableSlice)
      if isFirst { contents.insert(.pictureStart) }
      return contents
    }
    guard !slice.isRedundant else { return contents }
    if isFirst || slice.isFirstInPicture {
      contents.insert(.pictureStart)
      current.pictureCount += 1
    }
    switch slice.prediction {
    case .intra: contents.insert(.iSlice)
    case .forward: contents.insert(.pSlice)
    case .bidirectional: contents.insert(.bSlice)
    case nil: break
    }
    if current.slice == nil { current.slice = deepened(slice, nalUnit) }
    return contents
  }

  private func deepened(_ slice: Codec.SliceHeader, _ nalUnit: Span<UInt8>) -> Codec.SliceHeader {
    guard settings.sliceDepth == .referenceMarking, slice.mayResetPOC else { return slice }
    do throws(BitstreamError) {
      return try Codec.SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets, depth: .referenceMarking)
    } catch {
      return slice
    }
  }

  /// Stores a parameter set, from in band or out of band.
  ///
  /// - Returns: whether it can be read.
  @discardableResult
  mutating func store(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 0 else { return false }
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    do throws(BitstreamError) {
      let change = try parameterSets.insert(nalUnit)
      // Those of other layers have the same ids, but are not the base layer's.
      if Codec.role(of: nalUnit) == .sequenceParameterSet, change != .unchanged || lastSequenceParameterSetID == nil {
        lastSequenceParameterSetID = Codec.ParameterSets.sequenceParameterSetID(of: nalUnit)
      }
      guard change != .unchanged else { return true }
      parameterSetChanges += 1
      if let defect = parameterSets.defect(of: nalUnit) {
        errors.parameterSets += 1
        record(.unreadableParameterSet(type, byteCount: nalUnit.count, defect))
      } else {
        record(.parameterSet(type, byteCount: nalUnit.count, change))
      }
      return true
    } catch {
      errors.parameterSets += 1
      if type == .pictureParameterSet { hasUnreadablePictureParameterSet = true }
      record(.unreadableParameterSet(type, byteCount: nalUnit.count, error))
      return false
    }
  }

  // MARK: Packets

  /// Scans a length-prefixed access unit or, when NAL units are cut, its next one.
  private mutating func scanPacket(_ bytes: Span<UInt8>, _ lengthSize: NALLengthSize) -> Finding {
    if packetRemainder == 0 {
      packetRemainder = bytes.count
      startCodes = packets.judge(bytes, lengthSize: lengthSize)
      accessUnitContents = []
      cursor.beginsAccessUnit = true
    }
    guard !isPacketBroken else {
      isPacketBroken = false
      return .unusable(bytes.count)
    }
    if current.nalUnitCount == 0 { current.startCodes = startCodes }
    var units = LengthPrefixed.PacketNALUnits(bytes, lengthSize: lengthSize, startCodes)
    do throws(BitstreamError) {
      while let unit = try units.next() {
        startCodes = units.startCodes
        let nalUnit = bytes.extracting(unit.range)
        detectedSlice = Self.isLeftOut(nalUnit) ? nil : detector.feed(nalUnit, parameterSets: parameterSets).slice
        take(bytes, unit.range, start: unit.range.lowerBound - unit.prefixLength)
        if startCodes.exist { noticeStartCodes() }
        cursor.beginsAccessUnit = false
        if settings.cutsNALUnits {
          // Start codes are no lengths.
          if !startCodes.exist { markTruncation(bytes, after: unit.end, lengthSize) }
          return complete(unit.end, endsAccessUnit: unit.end == bytes.count)
        }
      }
    } catch {
      errors.lengths += 1
      record(.badLength(error, goodBytes: units.position, byteCount: bytes.count))
      isPacketBroken = units.position > 0 && units.position < bytes.count
      if units.position == 0
        || LengthPrefixed.mayBeTruncatedNALUnit(bytes.extracting(units.position...), lengthSize: lengthSize)
      {
        current.contents.insert(.damaged)
      }
    }
    return complete(isPacketBroken ? units.position : bytes.count, endsAccessUnit: true)
  }

  /// Marks the current NAL unit as damaged if a truncated one follows, which is not a piece of its own.
  private mutating func markTruncation(_ bytes: Span<UInt8>, after end: Int, _ lengthSize: NALLengthSize) {
    var rest = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize, from: end)
    do throws(BitstreamError) {
      _ = try rest.next()
    } catch {
      guard LengthPrefixed.mayBeTruncatedNALUnit(bytes.extracting(rest.position...), lengthSize: lengthSize) else {
        return
      }
      current.contents.insert(.damaged)
    }
  }

  private mutating func noticeStartCodes() {
    current.holdsStartCodes = true
    guard !hasSeenStartCodes else { return }
    hasSeenStartCodes = true
    record(.startCodes)
  }
}
