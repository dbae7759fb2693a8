// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What the scan of the data in hand found.
enum ScanResult {
  /// A unit of so many bytes. `unit` tells about it.
  case unit(Int)
  /// So many bytes of no use, in front of anything that could be a NAL unit.
  case garbage(Int)
  /// So many bytes of NAL units that cannot be used, such as pictures before the first parameter sets.
  case unusable(Int)
  case needsMoreData

  /// Bytes that are done with.
  var size: Int {
    switch self {
    case .unit(let size), .garbage(let size), .unusable(let size): size
    case .needsMoreData: 0
    }
  }
}

extension H264Parse {
  /// The largest access unit: more is taken for an error rather than kept in memory. The largest pictures of the
  /// highest level (6.2: 8192 × 4320) have 53 million samples before compression.
  static let maximumUnitSize = 64 << 20

  /// Looks for a unit at the start of the data.
  func scan(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    followInput(frame)
    if format == nil {
      negotiate(input: .byteStream, alignment: nil)
    } else if frame.isNew, unit.nalUnitCount == 0, packetRemainder == 0, sourcePad.needsReconfigure {
      negotiateAnew()
    }
    let result: ScanResult
    let available: Int
    let isMarked = frame.withBuffer { $0.flags.contains(.marker) }
    noticeUpstreamTimes(pts: frame.withBuffer { $0.pts }, dts: frame.withBuffer { $0.dts })
    do {
      let map = try frame.map()
      let bytes = map.bytes
      available = bytes.count
      var found = timestamps.heldUnitSize.map { ScanResult.unit($0) }
      if found == nil {
        found = inputFormat?.isLengthPrefixed == true ? scanPacket(bytes) : scanByteStream(bytes, isMarked: isMarked)
      }
      if case .unit = found, timestamps.heldUnitSize == nil { readInformation(bytes) }
      if case .unit(let size) = found, !prepareTimestamps(bytes, unitSize: size) { found = .needsMoreData }
      result = found ?? .needsMoreData
    }
    // When the element pulls its data, no event tells of the end.
    defer { if isDraining, sinkPad.isPulling, result.size == available { reportMissingPictures() } }
    switch result {
    case .unit(let size):
      consume(size, of: frame)
      return try finishUnit(size, frame)
    case .unusable(let size):
      statistics.bytesSkipped += UInt64(size)
      isDiscontinuous = true
      frame.markAsDropped()
      consume(size, of: frame)
      endUnit(size)
      return .frame(size: size)
    case .garbage(let count):
      statistics.bytesSkipped += UInt64(count)
      consume(count, of: frame)
      return .skip(count)
    case .needsMoreData:
      guard available <= Self.maximumUnitSize else { throw tooLarge(available) }
      if sinkPad.isPulling { setMinimumFrameSize(max(available * 2, 64 << 10)) }
      return .needsMoreData
    }
  }

  /// Notices when the data does not follow on what came before.
  private func followInput(_ frame: borrowing BaseParseFrame) {
    if frame.withBuffer({ $0.flags.contains(.discontinuity) }) { isDiscontinuous = true }
    // In push mode seeks come with events, and offsets may be missing.
    guard frame.isNew, sinkPad.isPulling else { return }
    if let expectedOffset, frame.offset != expectedOffset {
      resetScan()
      timestamps.awaitsPosition = frame.offset != 0
    }
  }

  private func consume(_ count: Int, of frame: borrowing BaseParseFrame) {
    bytesSeen += UInt64(count)
    packetRemainder = max(0, packetRemainder - count)
    expectedOffset = frame.offset == .max ? nil : frame.offset + UInt64(count)
  }

  /// The unit in hand is done with: the next one begins so many bytes later.
  func endUnit(_ size: Int) {
    unit = CodedUnit()
    cursor.discard(size)
  }

  private func tooLarge(_ size: Int) -> FlowError {
    post(
      ElementError(
        .stream(.format), "This does not look like H.264: an access unit does not end.",
        debug: "found \(size) bytes without the end of an access unit, expected at most \(Self.maximumUnitSize)"))
    return .error
  }

  // MARK: Byte streams

  /// Looks for the end of the unit that begins where the data begins.
  private func scanByteStream(_ bytes: Span<UInt8>, isMarked: Bool) -> ScanResult {
    let isWholeUnit = isDraining || inputAlignment == .accessUnit || inputAlignment == .nalUnit && isMarked
    let isWholeNALUnit = isWholeUnit || inputAlignment == .nalUnit
    if inputAlignment == .accessUnit, packetRemainder == 0 {
      packetRemainder = bytes.count
      detector.reset()
    }
    if !cursor.isInNALUnit, unit.nalUnitCount == 0 {
      if let result = findFirstStartCode(bytes, isComplete: isWholeNALUnit) { return result }
    }
    if alignment == .nalUnit, let result = awaitHeaders(bytes, isComplete: isWholeNALUnit) { return result }
    while true {
      if !cursor.isInNALUnit {
        // The data ended with a NAL unit; the next one's start code may be there now.
        guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
          return isWholeUnit ? complete(bytes.count, endsAccessUnit: true) : waiting(bytes)
        }
        cursor.begin(prefix: prefix, zeroByte: prefix > unit.end && bytes[prefix - 1] == 0)
      }
      let next = AnnexB.startCode(in: bytes, from: cursor.searched)
      let limit = next ?? bytes.count
      let isComplete = next != nil || isWholeNALUnit
      if !cursor.isDetected {
        let head = bytes.extracting(cursor.payload..<min(limit, cursor.payload + NALUnitCursor.headLength))
        guard isComplete || tellsPicturesApart(head) else { return waiting(bytes) }
        let start = detect(head)
        if unit.nalUnitCount > 0, cursor.beginsAccessUnit || alignment == .nalUnit {
          return complete(start, endsAccessUnit: cursor.beginsAccessUnit)
        }
      }
      guard isComplete else { return waiting(bytes) }
      let end = trimmedEnd(bytes, limit)
      take(bytes, cursor.payload..<end, start: cursor.start)
      if let next {
        cursor.begin(prefix: next, zeroByte: next > end && bytes[next - 1] == 0)
      } else {
        cursor.isInNALUnit = false
        cursor.searched = bytes.count
        if isWholeUnit { return complete(bytes.count, endsAccessUnit: true) }
        return alignment == .nalUnit ? complete(bytes.count, endsAccessUnit: false) : .needsMoreData
      }
    }
  }

  /// Everything but the last two bytes, which may begin a start code, was searched in vain.
  private func waiting(_ bytes: Span<UInt8>) -> ScanResult {
    cursor.searched = max(cursor.searched, bytes.count - 2)
    return .needsMoreData
  }

  /// Puts the cursor at the first start code. Answers a result when that is not where the data begins.
  private func findFirstStartCode(_ bytes: Span<UInt8>, isComplete: Bool) -> ScanResult? {
    guard let prefix = AnnexB.startCode(in: bytes, from: cursor.searched) else {
      // A start code may have begun in the last three bytes.
      let count = isComplete ? bytes.count : max(0, bytes.count - 3)
      cursor.searched = 0
      return count > 0 ? .garbage(count) : .needsMoreData
    }
    cursor.begin(prefix: prefix, zeroByte: prefix > 0 && bytes[prefix - 1] == 0)
    guard cursor.start > 0 else { return nil }
    let count = cursor.start
    cursor.discard(count)
    return .garbage(count)
  }

  /// Holds NAL units back until there are parameter sets to make caps of, and throws away the slices before.
  private func awaitHeaders(_ bytes: Span<UInt8>, isComplete: Bool) -> ScanResult? {
    guard !hasParameterSets, !isDraining else { return nil }
    var units = AnnexB.Scanner()
    while let place = units.next(in: bytes, isComplete: isComplete) {
      let nalUnit = bytes.extracting(place.range)
      let type = H264.NALUnitType(rawValue: nalUnit[0])
      if type.isVCL, nalUnit.count > 1 {
        cursor = NALUnitCursor()
        statistics.errors.missingParameterSets += 1
        return .unusable(place.range.upperBound)
      }
      if type == .sequenceParameterSet || type == .pictureParameterSet { storeParameterSet(nalUnit) }
      if hasParameterSets { return nil }
    }
    return .needsMoreData
  }

  /// Whether the first bytes of a NAL unit are enough for the detector.
  private func tellsPicturesApart(_ head: Span<UInt8>) -> Bool {
    guard head.count > 1, head.count < NALUnitCursor.headLength else { return head.count > 1 }
    switch H264.NALUnitType(rawValue: head[0]) {
    case .slice, .idrSlice, .slicePartitionA:
      do throws(BitstreamError) {
        _ = try H264.SliceHeader(nalUnit: head, parameterSets: parameterSets)
        return true
      } catch {
        return false
      }
    default: return true
    }
  }

  /// Shows the head of the NAL unit at the cursor to the detector. Answers where the unit before it ends.
  private func detect(_ head: Span<UInt8>) -> Int {
    cursor.isDetected = true
    detectedSlice = nil
    guard !Self.isLeftOut(head) else { return cursor.start }
    let (boundary, slice) = detector.feed(head, parameterSets: parameterSets)
    detectedSlice = slice
    cursor.beginsAccessUnit = boundary == .begins
    var start = cursor.start
    if boundary == .followsNext {
      if cursor.prefixStart == nil { cursor.prefixStart = cursor.start }
    } else {
      // The prefix NAL unit went out already in NAL alignment.
      if alignment == .accessUnit, cursor.beginsAccessUnit, let prefixStart = cursor.prefixStart { start = prefixStart }
      cursor.prefixStart = nil
    }
    return start
  }

  /// Whether a NAL unit is of no use to anyone: cut off behind its header, or of a type that only RTP has.
  private static func isLeftOut(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 0 else { return true }
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    return type.isOutsideStandard || nalUnit.count == 1 && type != .endOfSequence && type != .endOfStream
  }

  private func trimmedEnd(_ bytes: Span<UInt8>, _ limit: Int) -> Int {
    var end = limit
    while end > cursor.payload, bytes[end - 1] == 0 { end -= 1 }
    return end
  }

  /// The unit ends here. Decides whether it is of any use.
  private func complete(_ size: Int, endsAccessUnit: Bool) -> ScanResult {
    if endsAccessUnit { unit.contents.insert(.accessUnitEnd) }
    if alignment == .accessUnit { unit.contents.insert(.accessUnitStart) }
    guard unit.end > 0, lastSequenceParameterSetID != nil else { return .unusable(size) }
    // In-band sets go out as they are; only codec_data must be made of some that can be read.
    let mayDo = hasDamagedPictureParameterSet && format != .avc
    if unit.contents.contains(.slice), !hasParameterSets, !mayDo {
      statistics.errors.missingParameterSets += 1
      return .unusable(size)
    }
    return .unit(size)
  }

  /// Whether there are parameter sets of both kinds. Those of an extension layer may be all there is, so that no slice
  /// header of the base can be read.
  var hasParameterSets: Bool {
    parameterSets.canReadSlices
      || lastSequenceParameterSetID != nil && !parameterSets.pictureParameterSetNALUnits.isEmpty
  }

  // MARK: Packets

  /// Looks at a length-prefixed access unit, or in NAL alignment at its next NAL unit.
  private func scanPacket(_ bytes: Span<UInt8>) -> ScanResult {
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
        if alignment == .nalUnit {
          return complete(range.upperBound, endsAccessUnit: range.upperBound == bytes.count)
        }
      }
    } catch {
      statistics.errors.lengths += 1
      Self.log(
        .warning, self,
        "bad NAL unit length: found \(error), expected at most \(bytes.count) bytes; \(units.position) bytes are good")
      isPacketBroken = units.position > 0 && units.position < bytes.count
      unit.contents.insert(.damaged)
    }
    return complete(isPacketBroken ? units.position : bytes.count, endsAccessUnit: true)
  }

  private func noticeStartCodes() {
    unit.holdsStartCodes = true
    guard !hasWarnedOfStartCodes else { return }
    hasWarnedOfStartCodes = true
    postWarning(
      ElementError(
        .stream(.format), "The stream was muxed wrongly; it is being repaired.",
        debug: "found start codes inside length-prefixed NAL units, expected one NAL unit behind each length"))
  }

  // MARK: NAL units

  /// Takes a complete NAL unit into the unit in hand.
  ///
  /// - Parameter start: where its start code or length begins.
  private func take(_ bytes: Span<UInt8>, _ range: Range<Int>, start: Int) {
    let nalUnit = bytes.extracting(range)
    unit.nalUnitCount += 1
    guard !Self.isLeftOut(nalUnit) else { return leaveOut(nalUnit, start..<range.upperBound) }
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    statistics.nalUnits[Int(type.rawValue)] += 1
    unit.end = range.upperBound
    if cursor.beginsAccessUnit {
      accessUnitContents = []
      unit.contents.insert(.accessUnitStart)
    }
    switch type.rawValue {
    case 1, 2, 5: takeSlice(nalUnit, type, range, start: start)
    case 3, 4, 19: unit.contents.insert(.slice)
    case 20, 21:
      // Of an extension layer whose base is not here.
      if !accessUnitContents.union(unit.contents).contains(.slice) { unit.contents.insert(.pictureStart) }
      unit.contents.insert(.slice)
    case 6: takeInformation(range, start: start)
    case 7, 8, 13, 15: takeParameterSet(nalUnit, type)
    case 9: unit.contents.insert(.delimiter)
    default: break
    }
    if Self.log.isEnabled(.log) { logNALUnit(nalUnit, type) }
    accessUnitContents.formUnion(unit.contents)
  }

  private func leaveOut(_ nalUnit: Span<UInt8>, _ range: Range<Int>) {
    unit.dropped.append(range)
    statistics.errors.nalUnits += 1
    guard nalUnit.count > 0, H264.NALUnitType(rawValue: nalUnit[0]).isOutsideStandard, !hasWarnedOfForeignTypes else {
      return
    }
    hasWarnedOfForeignTypes = true
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    Self.log(.warning, self, "left out a NAL unit of type \(type.rawValue) (\(type.name)): only RTP packets have them")
  }

  private func takeSlice(_ nalUnit: Span<UInt8>, _ type: H264.NALUnitType, _ range: Range<Int>, start: Int) {
    let isFirst = unit.slice == nil && !accessUnitContents.contains(.slice)
    unit.contents.insert(.slice)
    if nalUnit[0] & 0x60 != 0 { unit.contents.insert(.reference) }
    if type == .idrSlice {
      unit.contents.insert(.idr)
      if unit.idrOffset == nil { unit.idrOffset = start }
    }
    guard let slice = detectedSlice else {
      statistics.errors.slices += 1
      if isFirst { unit.contents.insert(.pictureStart) }
      return
    }
    guard slice.redundantPictureCount == 0 else { return }
    if isFirst || slice.firstMacroblock == 0 { unit.contents.insert(.pictureStart) }
    switch slice.sliceType {
    case .i, .si: unit.contents.insert(.intraSlice)
    case .p, .sp: unit.contents.insert(.predictedSlice)
    case .b: unit.contents.insert(.bidirectionalSlice)
    }
    if unit.slice == nil {
      unit.slice = slice
      unit.sliceRange = range
    }
  }

  private func takeParameterSet(_ nalUnit: Span<UInt8>, _ type: H264.NALUnitType) {
    unit.contents.insert(type == .pictureParameterSet ? .pictureParameterSet : .sequenceParameterSet)
    storeParameterSet(nalUnit)
  }

  /// Keeps a parameter set, and has caps looked at anew when it is not what it was.
  func storeParameterSet(_ nalUnit: Span<UInt8>) {
    guard nalUnit.count > 0 else { return }
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    do throws(BitstreamError) {
      let change = try parameterSets.insert(nalUnit)
      if type == .sequenceParameterSet, change != .unchanged || lastSequenceParameterSetID == nil {
        lastSequenceParameterSetID = try H264.SequenceParameterSet(nalUnit: nalUnit).id
      }
      guard change != .unchanged else { return }
      statistics.parameterSetChanges += 1
      capsState.isStale = true
      Self.log(.info, self, describe(nalUnit, type, change))
    } catch {
      statistics.errors.parameterSets += 1
      if type == .pictureParameterSet { hasDamagedPictureParameterSet = true }
      Self.log(.warning, self, "cannot read \(type.name) of \(nalUnit.count) bytes: \(error)")
    }
  }
}
