// SPDX-License-Identifier: MPL-2.0
import H26x

/// Makes report items of the NAL units or samples of a stream.
struct StreamAnalysis<Codec: ReportedCodec> {
  private let options: ReportOptions
  private(set) var sets = Codec.ParameterSets()
  private var detector = Codec.AccessUnitDetector()
  private var checker = Codec.Checker()
  private var log = FindingLog(Codec.codec)
  private var summary = SummaryRecord()

  /// The access unit that is being read.
  private var current: AccessUnitRecord?
  /// Bytes of its VCL NAL units and filler data.
  private var codedBytes: UInt64 = 0
  private var order = NALUnitOrder<Codec>()
  /// NAL units that belong to the access unit of the next slice.
  private var waiting: [NALUnitRecord] = []
  private var container = ContainerChecker<Codec>()
  /// The timestamps of a demultiplexed stream with start codes.
  private var packets = PacketTimes()
  /// The sample that is being read.
  private var openSample: OpenSample?
  /// The items that are ready.
  private var items: [ReportItem] = []

  private struct OpenSample {
    var pictures = 0
    var hasEmptyNALUnit = false
    /// NAL units between a picture and the next one of the sample, such as a second field, belong to the next.
    var misplaced: (name: StaticString, offset: UInt64)?
  }

  /// The most NAL units of an access unit that are listed. All are counted.
  private static var nalUnitLimit: Int { 150_000 }

  init(options: ReportOptions) { self.options = options }

  /// Appends the items that became ready since the last call.
  mutating func take(into ready: inout [ReportItem]) {
    ready += items
    items.removeAll(keepingCapacity: true)
  }

  // MARK: Input

  /// Takes the sample description of a container, which holds from the next sample on. Returns the size of length
  /// prefixes; nil when its configuration record cannot be read.
  mutating func configure(
    _ description: MP4.VisualSampleDescription, timescale: UInt32
  ) -> NALLengthSize? {
    log.accessUnit = summary.accessUnits
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(description.configuration.span)
      for nalUnit in record.nalUnits {
        var unit = NALUnitRecord()
        unit.size = nalUnit.count
        Codec.readHeader(nalUnit.span, &unit, wantsFields: true, log: &log)
        switch Codec.role(of: nalUnit.span) {
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension:
          takeParameterSet(nalUnit.span, &unit, isOutOfBand: true)
        default: break
        }
      }
      container.configure(description, record, timescale: timescale, log: &log)
      flushFindings()
      return record.nalLengthSize
    } catch {
      log.report(.containerConfiguration, ReportText(error), expected: "a configuration record")
      flushFindings()
      return nil
    }
  }

  /// Reports bytes that are no NAL unit.
  mutating func garbage(_ count: UInt64, at offset: UInt64) {
    log.offset = offset
    log.report(.garbage, "\(count) bytes before a start code", expected: "zero bytes and start codes")
    flushFindings()
  }

  /// Reports that the container cannot be read any further.
  mutating func damaged(_ error: MP4.ReadError) {
    log.offset = error.offset
    log.report(.containerSample, "box \(error.box.name) that cannot be read", expected: "boxes up to the end")
    flushFindings()
  }

  /// Takes the timestamps of the first access unit that begins in a packet.
  ///
  /// - Parameter offset: of the packet in the demultiplexed stream.
  mutating func addPacket(_ sample: AccessUnitRecord.Sample?, timescale: UInt32, at offset: UInt64) {
    packets.add(sample, at: offset)
    container.timescale = timescale
  }

  /// Takes a NAL unit of a byte stream, and looks for access unit boundaries.
  ///
  /// - Parameters:
  ///   - offset: the offset of its header in the file.
  ///   - prefix: bytes of its start code.
  mutating func feed(_ nalUnit: Span<UInt8>, at offset: UInt64, prefix: Int) {
    guard nalUnit.count > 0 else { return }
    let hadPicture = detector.hasPrimaryPicture
    let boundary = detector.feed(nalUnit, parameterSets: sets).boundary
    if boundary == .followsNext {
      let unit = read(NALUnitBytes(nalUnit), at: offset, prefix: prefix, startsPicture: false)
      if waiting.count < Self.nalUnitLimit { waiting.append(unit) } else { count(unit) }
      return
    }
    let start = offset - UInt64(prefix)
    if boundary == .begins || current == nil {
      endAccessUnit(at: waiting.first.map { $0.offset - UInt64($0.prefix) } ?? start)
      let first = waiting.first.map { $0.offset - UInt64($0.prefix) } ?? start
      beginAccessUnit(at: first)
      current?.sample = packets.take(at: first)
    }
    for unit in waiting { list(unit) }
    waiting.removeAll(keepingCapacity: true)
    let unit = read(
      NALUnitBytes(nalUnit), at: offset, prefix: prefix,
      startsPicture: Codec.role(of: nalUnit) == .slice && (boundary == .begins || !hadPicture))
    list(unit)
  }

  /// Takes a sample of a container, which is one access unit.
  ///
  /// - Parameters:
  ///   - bytes: its bytes, as far as the file has them.
  ///   - offset: its offset in the file.
  ///   - size: its size by the container.
  mutating func feed(
    sample bytes: Span<UInt8>, _ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64,
    lengthSize: NALLengthSize
  ) {
    beginSample(sample, at: offset, size: size, available: UInt64(bytes.count))
    var units = LengthPrefixed.NALUnits(bytes, lengthSize: lengthSize)
    var failure: BitstreamError?
    var end = 0
    do throws(BitstreamError) {
      while let range = try units.next() {
        if range.lowerBound > end + lengthSize.byteCount { feedEmpty(inSampleAt: offset + UInt64(end)) }
        end = range.upperBound
        feed(inSample: NALUnitBytes(bytes.extracting(range)), at: offset + UInt64(range.lowerBound), lengthSize)
      }
      if end < bytes.count { feedEmpty(inSampleAt: offset + UInt64(end)) }
    } catch {
      failure = error
    }
    endSample(at: offset + size, failure)
  }

  /// Begins a sample; see ``feed(sample:_:at:size:lengthSize:)``. Its NAL units follow, then ``endSample(at:_:)``.
  mutating func beginSample(_ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64, available: UInt64) {
    beginAccessUnit(at: offset)
    current?.sample = sample
    openSample = OpenSample()
    if available < size {
      log.report(.containerSample, "\(available) bytes of a sample of \(size)", expected: "the whole sample")
    }
  }

  /// Takes a NAL unit of no bytes.
  mutating func feedEmpty(inSampleAt offset: UInt64) {
    // Once a sample: with a wrong size of lengths there may be as many as bytes.
    guard openSample?.hasEmptyNALUnit == false else { return }
    openSample?.hasEmptyNALUnit = true
    log.offset = offset
    log.report(.containerSample, "a NAL unit of 0 bytes", expected: "NAL units with a header")
  }

  /// How many of a slice's first bytes are enough to report on it, but for forbidden byte sequences in its payload.
  var headLength: Int { max(Codec.longestSliceHeader(sets), options.byteCount) }

  /// Whether more than the first bytes of a NAL unit, and the last, are reported on.
  func needsWhole(_ start: Span<UInt8>) -> Bool {
    switch Codec.role(of: start) {
    case .slice, .slicePart, .layerSlice, .filler: false
    default: true
    }
  }

  /// Takes a NAL unit of the sample.
  mutating func feed(inSample nalUnit: borrowing NALUnitBytes, at offset: UInt64, _ lengthSize: NALLengthSize) {
    guard var sample = openSample else { return }
    let isSlice = Codec.role(of: nalUnit.head) == .slice
    let hadPicture = detector.hasPrimaryPicture
    let begins = detector.feed(nalUnit.head, parameterSets: sets).boundary == .begins
    let startsPicture = isSlice && (begins || !hadPicture || sample.pictures == 0)
    if startsPicture {
      sample.pictures += 1
      sample.misplaced = nil
    }
    let unit = read(nalUnit, at: offset, prefix: lengthSize.byteCount, startsPicture: startsPicture)
    list(unit)
    if begins, sample.pictures > 0, !isSlice, unit.layerID ?? 0 == 0, sample.misplaced == nil {
      sample.misplaced = (unit.name, offset)
    }
    openSample = sample
  }

  /// Ends the sample.
  ///
  /// - Parameter failure: what is wrong with its length prefixes; nil when they fill it.
  mutating func endSample(at end: UInt64, _ failure: BitstreamError?) {
    guard let sample = openSample else { return }
    openSample = nil
    if let failure {
      log.report(.containerSample, ReportText(failure), expected: "lengths that fill the sample")
    }
    if let misplaced = sample.misplaced {
      log.offset = misplaced.offset
      log.report(.order, "\(misplaced.name) after the picture", expected: "it before the first slice")
    }
    if sample.pictures > 1, !checker.common.picture.isSecondField {
      log.report(.containerSample, "\(sample.pictures) pictures in a sample", expected: "one access unit")
    }
    // The next sample is another access unit, whatever its slice headers say.
    detector.reset()
    endAccessUnit(at: end)
  }

  /// Ends the stream.
  mutating func finish(at offset: UInt64) {
    for unit in waiting { list(unit) }
    waiting = []
    endAccessUnit(at: offset)
    container.finish(log: &log)
    flushFindings()
    summary.reorder = checker.common.reorderDepth
    summary.findings = log.counts
    for type in 0..<UInt8(64) { summary.names.append(Codec.shortName(type)) }
    items.append(.summary(summary))
  }

  // MARK: NAL units

  private mutating func read(
    _ bytes: borrowing NALUnitBytes, at offset: UInt64, prefix: Int, startsPicture: Bool
  ) -> NALUnitRecord {
    let nalUnit = bytes.head
    log.offset = offset
    var unit = NALUnitRecord()
    (unit.offset, unit.prefix, unit.size) = (offset, prefix, bytes.size)
    Codec.readHeader(nalUnit, &unit, wantsFields: options.includesFields, log: &log)
    if bytes.isWhole, let place = EmulationPrevention.firstViolation(nalUnit) {
      log.report(
        .emulationPrevention, "00 00 0\(nalUnit[place + 2]) at byte \(place) of the NAL unit",
        expected: "an emulation prevention byte")
    }
    if bytes.last == 0 {
      log.report(
        openSample == nil ? .trailingBits : .containerTrailingZero, "a NAL unit that ends with a zero byte",
        expected: "another last byte")
    }
    if options.byteCount > 0 {
      let count = min(options.byteCount, nalUnit.count)
      unit.bytes.reserveCapacity(count)
      for index in 0..<count { unit.bytes.append(nalUnit[index]) }
    }
    let trace = options.includesFields ? SyntaxTrace() : nil
    switch Codec.role(of: nalUnit) {
    case .slice:
      order.takePicture(nalUnit, isStart: startsPicture, log: &log)
      checker.slice(nalUnit, &unit, sets: sets, startsPicture: startsPicture, trace: trace, log: &log)
    case .slicePart, .layerSlice: order.takePicture(nalUnit, isStart: false, log: &log)
    case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension:
      takeParameterSet(nalUnit, &unit, isOutOfBand: false)
    case .sei, .suffixSEI:
      // Zero bytes at the end are a finding of their own.
      if nalUnit[Self.countWithoutTrailingZeros(nalUnit) - 1] != 0x80 {
        log.report(.trailingBits, "other bits at the end of \(unit.name)", expected: "rbsp_trailing_bits()")
      }
      checker.messages(nalUnit, &unit, sets: sets, trace: trace, log: &log)
    case .accessUnitDelimiter: order.takeDelimiter(nalUnit, &unit, trace, log: &log)
    case .end: checker.endSequence()
    case .filler, .outsideStandard, .other: break
    }
    order.check(
      unit, Codec.role(of: nalUnit), isFirst: current?.nalUnits.isEmpty ?? true, isInSample: openSample != nil,
      log: &log)
    if let trace { for element in trace.elements { unit.fields.append(SyntaxField(element)) } }
    return unit
  }

  private mutating func takeParameterSet(_ nalUnit: Span<UInt8>, _ unit: inout NALUnitRecord, isOutOfBand: Bool) {
    let isBefore = sets.holdsSet(withIDOf: nalUnit)
    var change = ParameterSetChange.added
    do throws(BitstreamError) {
      change = try sets.insert(nalUnit.extracting(0..<Self.countWithoutTrailingZeros(nalUnit)))
    } catch {
      // readParameterSet reports the error.
      change = .added
    }
    let isNew = change != .unchanged
    guard isNew || options.includesFields else {
      unit.parameterSetID = nil
      Self.readID(nalUnit, &unit, sets: sets)
      return
    }
    let trace = SyntaxTrace()
    var silent = FindingLog(Codec.codec)
    var full = unit
    if !options.includesFields { Codec.readHeader(nalUnit, &full, wantsFields: !isOutOfBand, log: &silent) }
    if isNew {
      Codec.readParameterSet(nalUnit, &full, sets: sets, trace: trace, log: &log)
    } else {
      Codec.readParameterSet(nalUnit, &full, sets: sets, trace: trace, log: &silent)
    }
    (unit.parameterSetID, unit.error) = (full.parameterSetID, full.error)
    for element in trace.elements { full.fields.append(SyntaxField(element)) }
    if options.includesFields { unit.fields = full.fields }
    guard isNew else { return }
    full.bytes.removeAll()
    for index in 0..<nalUnit.count { full.bytes.append(nalUnit[index]) }
    var record = ParameterSetRecord()
    record.accessUnit = current?.index ?? summary.accessUnits
    record.isOutOfBand = isOutOfBand
    record.isReplacement = isBefore
    record.nalUnit = full
    record.format = Codec.role(of: nalUnit) == .sequenceParameterSet ? Codec.format(nalUnit) : nil
    items.append(.parameterSet(record))
    if !isOutOfBand { container.inBand(record.format, log: &log) }
  }

  /// Writers of records take zero bytes along that stood between two NAL units of a byte stream; the set is the same.
  private static func countWithoutTrailingZeros(_ nalUnit: Span<UInt8>) -> Int {
    var count = nalUnit.count
    while count > 1, nalUnit[count - 1] == 0 { count -= 1 }
    return count
  }

  /// The id of a set that is there already.
  private static func readID(_ nalUnit: Span<UInt8>, _ unit: inout NALUnitRecord, sets: borrowing Codec.ParameterSets) {
    var silent = FindingLog(Codec.codec)
    Codec.readParameterSet(nalUnit, &unit, sets: sets, trace: nil, log: &silent)
  }

  private mutating func list(_ unit: NALUnitRecord) {
    count(unit)
    guard let count = current?.nalUnits.count, count < Self.nalUnitLimit else { return }
    current?.nalUnits.append(unit)
  }

  private mutating func count(_ unit: NALUnitRecord) {
    let type = Int(unit.type & 63)
    summary.nalUnits[type] += 1
    summary.nalUnitBytes[type] += UInt64(unit.size)
    if unit.isVCL || Codec.NALUnitType(rawValue: unit.type) == .fillerData { codedBytes += UInt64(unit.size) }
  }

  // MARK: Access units

  private mutating func beginAccessUnit(at offset: UInt64) {
    var unit = AccessUnitRecord()
    unit.index = summary.accessUnits
    unit.offset = offset
    current = unit
    (log.accessUnit, log.offset) = (unit.index, offset)
    codedBytes = 0
    order.beginAccessUnit()
    checker.common.beginAccessUnit()
  }

  private mutating func endAccessUnit(at end: UInt64) {
    guard var unit = current else { return }
    current = nil
    log.offset = unit.offset
    unit.size = end > unit.offset ? end - unit.offset : 0
    checker.endPicture(log: &log)
    // The types of H.265's NAL units tell.
    if Codec.codec == .h264 { checker.common.judgeIntraPicture() }
    let facts = checker.common.picture
    order.endAccessUnit(letter: facts.letter, log: &log)
    unit.letter = facts.letter
    unit.keyframe = facts.keyframe
    unit.isReference = facts.isReference
    (unit.isField, unit.isSecondField, unit.isFieldPair) = (facts.isField, facts.onlyCompletes, facts.isFieldPair)
    unit.sequence = facts.sequence
    unit.pictureOrderCount = facts.order
    unit.quantizationParameter = facts.quantizationParameter
    unit.references = facts.references
    unit.decodedPictures = facts.decodedPictures
    (unit.bufferFullness, unit.bufferSize) = checker.endAccessUnit(
      bytes: unit.size, codedBytes: codedBytes, interval: container.interval(before: unit.sample), log: &log)
    container.check(
      unit, period: checker.common.messages.isRepeated ? nil : checker.period,
      preferredTransfer: checker.common.messages.preferredTransfer, limits: checker.limits,
      pictureSize: checker.pictureSize, log: &log)
    summary.accessUnits += 1
    summary.bytes += unit.size
    switch unit.letter {
    case 0x49: summary.intra += 1
    case 0x50: summary.predicted += 1
    case 0x42: summary.bidirectional += 1
    default: break
    }
    if unit.keyframe != .none { summary.keyframes += 1 }
    items.append(.accessUnit(unit))
    flushFindings()
  }

  private mutating func flushFindings() { for finding in log.take() { items.append(.finding(finding)) } }
}
