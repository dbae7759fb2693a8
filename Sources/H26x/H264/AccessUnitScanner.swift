// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Cuts a byte stream that arrives in pieces, or length-prefixed packets, into access units or NAL units, and tells
  /// what is inside.
  ///
  /// The caller shows the bytes that are not done with, again and with more behind them as long as the answer is
  /// ``Finding/needsMoreData``; no byte is searched twice. Bytes of any other answer are done with: the next call begins
  /// behind them. Parameter sets on the way are kept, boundaries are those of ``AccessUnitDetector``.
  public struct AccessUnitScanner: Sendable {
    /// What was found at the start of the data.
    public enum Finding: Sendable, Hashable {
      /// A unit of so many bytes, trailing zeros included. ``AccessUnitScanner/takeAccessUnit()`` tells about it.
      case accessUnit(Int)
      /// So many bytes of no use, in front of anything that could be a NAL unit.
      case garbage(Int)
      /// So many bytes of NAL units that cannot be used, such as pictures before the first parameter sets.
      case unusable(Int)
      /// The unit does not end here.
      case needsMoreData

      /// Bytes that are done with.
      public var size: Int {
        switch self {
        case .accessUnit(let size), .garbage(let size), .unusable(let size): size
        case .needsMoreData: 0
        }
      }
    }

    /// What one piece of the input, as it came, holds.
    public enum InputAlignment: Sendable, Hashable {
      /// Any bytes.
      case none
      /// Whole NAL units.
      case nalUnits
      /// One whole access unit.
      case accessUnit
    }

    /// NAL units that could not be read, by kind.
    public struct Errors: Sendable, Hashable {
      /// None so far.
      public init() {}

      /// Parameter sets that cannot be read.
      public var parameterSets: UInt64 = 0
      /// Slices whose headers cannot be read.
      public var slices: UInt64 = 0
      /// Units with slices before the parameter sets that they need.
      public var missingParameterSets: UInt64 = 0
      /// NAL units of types that only RTP has, or cut off behind their first byte.
      public var nalUnits: UInt64 = 0
      /// Lengths that point past the end of a packet.
      public var lengths: UInt64 = 0
    }

    /// Something that whoever looks after the stream may want to know.
    public enum Notice: Sendable {
      /// A parameter set that is new or not what it was.
      case parameterSet(NALUnitType, byteCount: Int, ParameterSets.Change)
      /// A parameter set that cannot be read.
      case unreadableParameterSet(NALUnitType, byteCount: Int, BitstreamError)
      /// The first NAL unit of a type that only RTP has.
      case foreignType(NALUnitType)
      /// A length that points past the end of a packet, so many bytes of which are good.
      case badLength(BitstreamError, goodBytes: Int, byteCount: Int)
      /// The stream begins with an IDR picture whose parameter sets come behind it, in a byte stream only.
      case lateParameterSets
      /// The first start codes inside a length-prefixed NAL unit.
      case startCodes
    }

    // MARK: Set by the caller

    /// How NAL units are packed in the input.
    public var packaging = NALPackaging.annexB
    /// What a piece of the input holds.
    public var inputAlignment = InputAlignment.none
    /// Whether NAL units are cut rather than access units.
    public var cutsNALUnits = false
    /// Whether the NAL units of an access unit are listed in it.
    public var listsNALUnits = false
    /// How far the header of a unit's first slice is read: picture order counts need all of it
    /// (``PictureOrderCounter``).
    public var sliceDepth = SliceHeader.Depth.pictureIdentity
    /// Whether slices whose PPS came but cannot be read are units all the same: a decoder may make more of it. So are
    /// slices without a PPS in one unit with an SPS, which may be the only one.
    public var sparesUnreadablePictureParameterSets = true

    // MARK: Found out

    /// The parameter sets so far.
    public private(set) var parameterSets = ParameterSets()
    /// The SPS that came last.
    public private(set) var lastSequenceParameterSetID: UInt8?
    /// Times that a parameter set was new or not what it was before.
    public private(set) var parameterSetChanges: UInt64 = 0
    /// NAL units so far, by `nal_unit_type`.
    public private(set) var nalUnitCounts = InlineArray<32, UInt64>(repeating: 0)
    /// What could not be read so far.
    public private(set) var errors = Errors()
    /// What is inside the access unit so far: when NAL units are cut, over all those that came.
    public var accessUnitContents: ScannedAccessUnit.Contents = []

    private var notices: [Notice] = []
    private var hasSeenForeignTypes = false
    private var hasSeenStartCodes = false
    private var hasUnreadablePictureParameterSet = false
    var lookAhead = LookAhead()

    private var found = ScannedAccessUnit()
    private var isFoundTaken = true

    // MARK: The unit in hand

    var detector = AccessUnitDetector()
    var cursor = NALUnitCursor()
    /// How far NAL units that are held back were searched for the first parameter sets.
    var headerSearch = AnnexB.Scanner()
    var unit = ScannedAccessUnit()
    /// Listed NAL units of the unit behind the one that was found.
    var carriedOver: [ScannedAccessUnit.NALUnit] = []
    /// The slice header at the head of the NAL unit at the cursor.
    var detectedSlice: SliceHeader?
    /// What is left of an input buffer that holds just one access unit.
    var packetRemainder = 0
    /// The rest of the packet stands behind a bad length.
    var isPacketBroken = false

    /// Start code and header byte: with less there is nothing to look at.
    public static let minimumInput = 4

    /// Notices kept of one call at most.
    private static let noticeLimit = 64

    /// Creates a scanner that has seen nothing.
    public init() {}

    /// Forgets the position in the stream: what comes next need not follow on what came before. Parameter sets and
    /// counts are kept.
    public mutating func resetPosition() {
      detector.reset()
      cursor = NALUnitCursor()
      headerSearch = AnnexB.Scanner()
      lookAhead.units = AnnexB.Scanner()
      unit = ScannedAccessUnit()
      found = ScannedAccessUnit()
      isFoundTaken = true
      carriedOver = []
      detectedSlice = nil
      accessUnitContents = []
      packetRemainder = 0
      isPacketBroken = false
    }

    /// Forgets the parameter sets.
    public mutating func removeParameterSets() {
      parameterSets.removeAll()
      headerSearch = AnnexB.Scanner()
      lastSequenceParameterSetID = nil
      hasUnreadablePictureParameterSet = false
      lookAhead = LookAhead()
    }

    /// Whether nothing of the next unit was seen yet.
    public var isBetweenAccessUnits: Bool { unit.nalUnitCount == 0 && packetRemainder == 0 }

    /// Whether there are parameter sets of both kinds. Those of an extension layer may be all there is, so that no
    /// slice header of the base can be read.
    public var hasParameterSets: Bool {
      parameterSets.canReadSlices
        || lastSequenceParameterSetID != nil && !parameterSets.pictureParameterSetNALUnits.isEmpty
    }

    /// The unit that was found last; an empty one when it was taken already.
    public mutating func takeAccessUnit() -> ScannedAccessUnit {
      var taken = ScannedAccessUnit()
      takeAccessUnit(&taken)
      return taken
    }

    /// Takes the unit that was found last, an empty one when it was taken already, in exchange for one whose memory
    /// can be used again.
    public mutating func takeAccessUnit(_ unit: inout ScannedAccessUnit) {
      if isFoundTaken { found.removeAll() }
      isFoundTaken = true
      swap(&unit, &found)
    }

    /// What there is to tell since the last call, 64 notices at most.
    public mutating func takeNotices() -> [Notice] {
      guard !notices.isEmpty else { return [] }
      defer { notices = [] }
      return notices
    }

    mutating func tell(_ notice: Notice) {
      if notices.count < Self.noticeLimit { notices.append(notice) }
    }

    // MARK: Scanning

    /// Looks for a unit at the start of the data.
    ///
    /// - Parameters:
    ///   - bytes: what is not done with.
    ///   - isMarked: whether an access unit is known to end with these bytes.
    ///   - isDraining: whether these bytes are all that comes.
    public mutating func next(in bytes: Span<UInt8>, isMarked: Bool, isDraining: Bool) -> Finding {
      guard bytes.count > 0 else { return .needsMoreData }
      // Less than was seen already is not what was seen: a file, say, that was cut off meanwhile.
      if bytes.count < max(cursor.searched, unit.end) { resetPosition() }
      let finding: Finding
      switch packaging {
      case .annexB: finding = scanByteStream(bytes, isMarked: isMarked, isDraining: isDraining)
      case .lengthPrefixed(let lengthSize): finding = scanPacket(bytes, lengthSize)
      }
      let size = finding.size
      guard size > 0 else { return finding }
      packetRemainder = max(0, packetRemainder - size)
      cursor.discard(size)
      headerSearch.discard(size)
      lookAhead.units.discard(size)
      switch finding {
      case .accessUnit:
        beginUnit()
        isFoundTaken = false
      case .unusable:
        beginUnit()
        isFoundTaken = true
        // Left out NAL by NAL, an access unit begins with the first of its NAL units that is of use.
        if cutsNALUnits { unit.contents = found.contents.intersection(.accessUnitStart) }
      case .garbage, .needsMoreData: break
      }
      return finding
    }

    /// Puts the unit in hand into `found`, and begins the next one.
    private mutating func beginUnit() {
      swap(&found, &unit)
      unit.removeAll()
      if !carriedOver.isEmpty {
        unit.nalUnits = carriedOver
        carriedOver = []
      }
    }

    /// The unit in hand ends here. Decides whether it is of any use.
    mutating func complete(_ size: Int, endsAccessUnit: Bool) -> Finding {
      if endsAccessUnit { unit.contents.insert(.accessUnitEnd) }
      if !cutsNALUnits { unit.contents.insert(.accessUnitStart) }
      guard unit.end > 0, lastSequenceParameterSetID != nil else { return .unusable(size) }
      // No SPS is to be lost with the pictures whose PPS is missing.
      let isSpared =
        sparesUnreadablePictureParameterSets
        && (hasUnreadablePictureParameterSet || unit.contents.contains(.sequenceParameterSet))
      if unit.contents.contains(.slice), !isSpared, !hasParameterSets {
        countMissingParameterSets()
        return .unusable(size)
      }
      return .accessUnit(size)
    }

    mutating func countMissingParameterSets() { errors.missingParameterSets += 1 }

    // MARK: NAL units

    /// Whether a NAL unit is of no use to anyone: cut off behind its header, or of a type that only RTP has.
    static func isLeftOut(_ nalUnit: Span<UInt8>) -> Bool {
      guard nalUnit.count > 0 else { return true }
      let type = NALUnitType(rawValue: nalUnit[0])
      return type.isOutsideStandard || nalUnit.count == 1 && type != .endOfSequence && type != .endOfStream
    }

    /// Takes a complete NAL unit into the unit in hand.
    ///
    /// - Parameter start: where its start code or length begins.
    mutating func take(_ bytes: Span<UInt8>, _ range: Range<Int>, start: Int) {
      let nalUnit = bytes.extracting(range)
      unit.nalUnitCount += 1
      guard !Self.isLeftOut(nalUnit) else { return leaveOut(nalUnit, range, start: start) }
      let type = NALUnitType(rawValue: nalUnit[0])
      nalUnitCounts[Int(type.rawValue)] += 1
      if cursor.beginsAccessUnit {
        accessUnitContents = []
        unit.contents.insert(.accessUnitStart)
      }
      if type.isParameterSet, !store(nalUnit), parameterSets.hasNamesake(of: nalUnit) {
        // Decoders would take what they can read of it in place of the good one.
        return drop(range, start: start)
      }
      unit.end = range.upperBound
      let contents = look(nalUnit, type, range, start: start)
      unit.contents.formUnion(contents)
      accessUnitContents.formUnion(unit.contents)
      if listsNALUnits { unit.list(ScannedAccessUnit.NALUnit(start: start, range: range, contents: contents)) }
    }

    private mutating func drop(_ range: Range<Int>, start: Int) {
      unit.dropped.append(start..<range.upperBound)
      if listsNALUnits { unit.list(ScannedAccessUnit.NALUnit(start: start, range: range, contents: nil)) }
    }

    private mutating func leaveOut(_ nalUnit: Span<UInt8>, _ range: Range<Int>, start: Int) {
      drop(range, start: start)
      errors.nalUnits += 1
      guard nalUnit.count > 0, !hasSeenForeignTypes else { return }
      let type = NALUnitType(rawValue: nalUnit[0])
      guard type.isOutsideStandard else { return }
      hasSeenForeignTypes = true
      tell(.foreignType(type))
    }

    /// What a NAL unit adds to the unit in hand.
    private mutating func look(
      _ nalUnit: Span<UInt8>, _ type: NALUnitType, _ range: Range<Int>, start: Int
    ) -> ScannedAccessUnit.Contents {
      switch type.rawValue {
      case 1, 2, 5: return lookAtSlice(nalUnit, type, range, start: start)
      case 3, 4, 19: return .slice
      case 20, 21:
        // Of an extension layer whose base may not be here.
        return accessUnitContents.contains(.slice) ? .slice : [.slice, .pictureStart]
      case 6:
        if unit.seiOffset == nil { unit.seiOffset = start }
        if unit.seiNALUnits.count < ScannedAccessUnit.seiLimit {
          unit.seiNALUnits.append(
            ScannedAccessUnit.NALUnit(start: start, range: range, contents: .sei))
        }
        return .sei
      case 7, 13, 15: return .sequenceParameterSet
      case 8: return .pictureParameterSet
      case 9: return .delimiter
      default: return []
      }
    }

    private mutating func lookAtSlice(
      _ nalUnit: Span<UInt8>, _ type: NALUnitType, _ range: Range<Int>, start: Int
    ) -> ScannedAccessUnit.Contents {
      let isFirst = unit.slice == nil && !accessUnitContents.contains(.slice)
      var contents: ScannedAccessUnit.Contents = nalUnit[0] & 0x60 != 0 ? [.slice, .reference] : .slice
      if type == .idrSlice {
        contents.insert(.idr)
        if unit.idrOffset == nil { unit.idrOffset = start }
      }
      guard let slice = detectedSlice else {
        errors.slices += 1
        if isFirst { contents.insert(.pictureStart) }
        return contents
      }
      guard slice.redundantPictureCount == 0 else { return contents }
      if isFirst || slice.firstMacroblock == 0 { contents.insert(.pictureStart) }
      switch slice.sliceType {
      case .i, .si: contents.insert(.iSlice)
      case .p, .sp: contents.insert(.pSlice)
      case .b: contents.insert(.bSlice)
      }
      if unit.slice == nil { unit.slice = deepened(slice, nalUnit) }
      return contents
    }

    private func deepened(_ slice: SliceHeader, _ nalUnit: Span<UInt8>) -> SliceHeader {
      // Only reference pictures have operations, and IDR pictures have none.
      guard sliceDepth == .referenceMarking, slice.isReference, !slice.isIDR else { return slice }
      do throws(BitstreamError) {
        return try SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets, depth: .referenceMarking)
      } catch {
        return slice
      }
    }

    /// Keeps a parameter set, from in band or out of it (NAL unit types 7, 8, 13 and 15).
    ///
    /// - Returns: whether it can be read.
    @discardableResult
    public mutating func store(_ nalUnit: Span<UInt8>) -> Bool {
      guard nalUnit.count > 0 else { return false }
      let type = NALUnitType(rawValue: nalUnit[0])
      do throws(BitstreamError) {
        let change = try parameterSets.insert(nalUnit)
        if type == .sequenceParameterSet, change != .unchanged || lastSequenceParameterSetID == nil {
          lastSequenceParameterSetID = try SequenceParameterSet(nalUnit: nalUnit).id
        }
        guard change != .unchanged else { return true }
        parameterSetChanges += 1
        tell(.parameterSet(type, byteCount: nalUnit.count, change))
        return true
      } catch {
        errors.parameterSets += 1
        if type == .pictureParameterSet { hasUnreadablePictureParameterSet = true }
        tell(.unreadableParameterSet(type, byteCount: nalUnit.count, error))
        return false
      }
    }

    // MARK: Packets

    /// Looks at a length-prefixed access unit, or when NAL units are cut, at its next one.
    private mutating func scanPacket(_ bytes: Span<UInt8>, _ lengthSize: NALLengthSize) -> Finding {
      if packetRemainder == 0 {
        packetRemainder = bytes.count
        accessUnitContents = []
        cursor.beginsAccessUnit = true
      }
      guard !isPacketBroken else {
        isPacketBroken = false
        return .unusable(bytes.count)
      }
      var units = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize)
      do throws(BitstreamError) {
        while let range = try units.next() {
          let nalUnit = bytes.extracting(range)
          detectedSlice = Self.isLeftOut(nalUnit) ? nil : detector.feed(nalUnit, parameterSets: parameterSets).slice
          take(bytes, range, start: range.lowerBound - lengthSize.byteCount)
          if LengthPrefixed.holdsStartCode(bytes, in: range) { noticeStartCodes() }
          cursor.beginsAccessUnit = false
          if cutsNALUnits { return complete(range.upperBound, endsAccessUnit: range.upperBound == bytes.count) }
        }
      } catch {
        errors.lengths += 1
        tell(.badLength(error, goodBytes: units.position, byteCount: bytes.count))
        isPacketBroken = units.position > 0 && units.position < bytes.count
        unit.contents.insert(.damaged)
      }
      return complete(isPacketBroken ? units.position : bytes.count, endsAccessUnit: true)
    }

    private mutating func noticeStartCodes() {
      unit.holdsStartCodes = true
      guard !hasSeenStartCodes else { return }
      hasSeenStartCodes = true
      tell(.startCodes)
    }
  }
}
