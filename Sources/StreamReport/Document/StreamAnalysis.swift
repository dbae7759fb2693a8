// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Makes report items of the NAL units or samples of a stream.
struct StreamAnalysis<Codec: CheckedCodec> {
  private let options: ReportOptions
  private var boundaryFinder = AccessUnitBoundaryFinder<Codec>()
  private var walk: NALUnitWalk<Codec>
  private var rules = StreamRules<Codec>()
  private var summary = SummaryRecord()
  /// Reads slice data; nil if that is not wanted.
  private var slices: SliceDataStage<Codec>?
  /// The access units whose slice data have not been read, or are not in their items yet.
  private var unread: [UnreadSlices] = []

  /// The access unit that is being read.
  private var current: AccessUnitRecord?
  /// Bytes of its VCL NAL units and filler data.
  private var codedBytes: UInt64 = 0
  /// NAL units that belong to the access unit of the next slice.
  private var waiting: [NALUnitRecord] = []
  private var buffer = BufferModel()
  private var times = SampleTimes()
  /// The timestamps of a demultiplexed stream with start codes.
  private var packets = PacketTimes()
  /// The items that were made since ``ready`` was last empty.
  private var items: [ReportItem] = []
  /// The items before them, the next one last.
  private var ready: [ReportItem] = []

  /// The most NAL units of an access unit that are listed. All are counted.
  private static var nalUnitLimit: Int { 150_000 }

  init(options: ReportOptions) {
    (self.options, walk) = (options, NALUnitWalk(options: options))
    slices = SliceDataStage(options)
    if options.readsSliceData { summary.sliceData = SliceDataTotals() }
    if options.countedAccessUnits != nil { summary.statistics = PictureStatistics(Codec.codec) }
  }

  /// The next item; nil if it needs more of the stream, and after the summary.
  mutating func next() -> ReportItem? {
    if ready.isEmpty, unread.isEmpty {
      swap(&ready, &items)
      ready.reverse()
    }
    return ready.popLast()
  }

  // MARK: Input

  /// Makes the first item. It has the size of length prefixes, so ``configure(_:timescale:)`` may come before.
  mutating func begin(_ stream: StreamRecord) { items.insert(.stream(stream), at: 0) }

  /// Takes the sample description of a container, which holds for the next sample and later ones. Returns the size of
  /// length prefixes; nil if its configuration record cannot be read.
  mutating func configure(
    _ description: MP4.VisualSampleDescription, timescale: UInt32
  ) -> NALLengthSize? {
    rules.setPlace(accessUnit: summary.accessUnits)
    defer { flushFindings() }
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(description.configuration.span)
      var configuration = WalkedConfiguration(declared: Codec.configurationFields(record))
      for nalUnit in record.nalUnits {
        let (header, unit, set) = walk.read(outOfBand: nalUnit.span, of: &configuration)
        rules.check(outOfBand: header, unit, set)
        if let set { list(set, isOutOfBand: true) }
      }
      times.timescale = timescale
      rules.check(description, configuration)
      return record.nalLengthSize
    } catch {
      rules.check(unreadableRecord: error)
      return nil
    }
  }

  /// Takes the container's statements about metadata, which hold for the next sample and later ones.
  mutating func take(_ stated: ContainerMetadata) { rules.take(stated) }

  /// Reports bytes that are no NAL unit.
  mutating func garbage(_ count: UInt64, at offset: UInt64) {
    rules.setPlace(offset: offset)
    rules.check(garbage: count)
    flushFindings()
  }

  /// Reports that the container cannot be read any further.
  mutating func damaged(_ error: MP4.ReadError) {
    rules.setPlace(offset: error.offset)
    rules.check(damaged: error)
    flushFindings()
  }

  /// Reports an edit with another media rate than 1, in 1/65536.
  mutating func check(editRate: UInt32) {
    rules.check(editRate: editRate)
    flushFindings()
  }

  /// Takes the timestamps of the first access unit that begins in a packet.
  ///
  /// - Parameter offset: of the packet in the demultiplexed stream.
  mutating func addPacket(_ sample: AccessUnitRecord.Sample?, timescale: UInt32, at offset: UInt64) {
    packets.add(sample, at: offset)
    times.timescale = timescale
  }

  /// Takes a NAL unit of a byte stream, and looks for boundaries of access units.
  ///
  /// - Parameters:
  ///   - offset: the offset of its header in the file.
  ///   - prefix: bytes of its start code.
  mutating func feed(_ nalUnit: Span<UInt8>, at offset: UInt64, prefix: Int) {
    guard nalUnit.count > 0 else { return }
    let slice = walk.slice(nalUnit)
    let cut = boundaryFinder.take(nalUnit, slice, at: offset - UInt64(prefix), walk.sets)
    if cut.boundary == .followsNext {
      let unit = read(NALUnitBytes(nalUnit), slice, at: offset, prefix: prefix, startsPicture: false)
      if waiting.count < Self.nalUnitLimit { waiting.append(unit) } else { count(unit) }
      return
    }
    if cut.boundary == .begins || current == nil {
      endAccessUnit(at: cut.start)
      beginAccessUnit(at: cut.start)
      current?.sample = packets.take(at: cut.start)
    }
    for unit in waiting { list(unit) }
    waiting.removeAll(keepingCapacity: true)
    list(read(NALUnitBytes(nalUnit), slice, at: offset, prefix: prefix, startsPicture: cut.startsPicture))
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
        feed(
          inSample: NALUnitBytes(bytes.extracting(range)), at: offset + UInt64(range.lowerBound),
          prefix: lengthSize.byteCount)
      }
      if end < bytes.count { feedEmpty(inSampleAt: offset + UInt64(end)) }
    } catch {
      failure = error
    }
    endSample(at: offset + size, failure)
  }

  /// Takes a sample whose NAL units have start codes in place of lengths; see
  /// ``feed(sample:_:at:size:lengthSize:)``.
  mutating func feed(
    byteStream bytes: Span<UInt8>, _ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64
  ) {
    beginSample(sample, at: offset, size: size, available: UInt64(bytes.count))
    rules.noticeStartCodes()
    var units = AnnexB.NALUnits(bytes)
    while let unit = units.next() {
      feed(
        inSample: NALUnitBytes(bytes.extracting(unit.range)), at: offset + UInt64(unit.range.lowerBound),
        prefix: unit.startCodeLength)
    }
    endSample(at: offset + size, nil)
  }

  /// Begins a sample; see ``feed(sample:_:at:size:lengthSize:)``. Its NAL units follow, then ``endSample(at:_:)``.
  mutating func beginSample(_ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64, available: UInt64) {
    beginAccessUnit(at: offset)
    current?.sample = sample
    boundaryFinder.beginSample()
    rules.beginSample(size: size, available: available)
  }

  /// Takes a NAL unit of no bytes.
  mutating func feedEmpty(inSampleAt offset: UInt64) { rules.takeEmptyNALUnit(at: offset) }

  /// How many of a slice's first bytes are enough to report on it, but for missing emulation prevention bytes in its
  /// payload.
  var headLength: Int { max(Codec.longestSliceHeader(walk.sets), options.byteCount) }

  /// Whether more than the first bytes of a NAL unit, and the last, are reported on.
  func needsWhole(_ start: Span<UInt8>) -> Bool {
    switch Codec.role(of: start) {
    case .slice, .slicePart, .layerSlice, .filler: false
    default: true
    }
  }

  /// Takes a NAL unit of the sample.
  ///
  /// - Parameter prefix: bytes of its length or start code.
  mutating func feed(inSample nalUnit: borrowing NALUnitBytes, at offset: UInt64, prefix: Int) {
    let slice = walk.slice(nalUnit.head)
    let startsPicture = boundaryFinder.take(inSample: nalUnit.head, slice, walk.sets)
    let unit = read(nalUnit, slice, at: offset, prefix: prefix, startsPicture: startsPicture)
    list(unit)
    boundaryFinder.note(inSample: unit)
  }

  /// Ends the sample.
  ///
  /// - Parameter failure: the error in its length prefixes; nil if they fill it.
  mutating func endSample(at end: UInt64, _ failure: BitstreamError?) {
    rules.check(boundaryFinder.endSample(failure), walk.pictures.picture)
    endAccessUnit(at: end)
  }

  /// Ends the stream.
  ///
  /// - Parameter isCutOff: whether the end of the file is missing.
  mutating func finish(at offset: UInt64, isCutOff: Bool) {
    for unit in waiting { list(unit) }
    waiting = []
    endAccessUnit(at: offset)
    addSliceData()
    if isCutOff {
      rules.setPlace(offset: offset)
      rules.checkMissingEnd()
    }
    rules.finish()
    flushFindings()
    summary.reorder = walk.pictures.reorderDepth
    summary.findings = rules.counts
    for type in 0..<UInt8(64) { summary.names.append(Codec.shortName(type)) }
    items.append(.summary(summary))
  }

  // MARK: NAL units

  private mutating func read(
    _ bytes: borrowing NALUnitBytes, _ slice: SliceReading<Codec>?, at offset: UInt64, prefix: Int,
    startsPicture: Bool
  ) -> NALUnitRecord {
    rules.setPlace(offset: offset)
    // The walk finds the references of a slice. Parameter sets may replace those of a slice in partitions.
    if slice == nil { readSliceData(of: bytes, slice, at: offset, startsPicture: startsPicture) }
    let met = walk.read(bytes, slice, at: offset, prefix: prefix, startsPicture: startsPicture)
    if slice != nil { readSliceData(of: bytes, slice, at: offset, startsPicture: startsPicture) }
    rules.check(
      met, in: walk, startsPicture: startsPicture, isFirst: current?.nalUnits.isEmpty ?? true,
      isInSample: boundaryFinder.isInSample)
    if case .parameterSet(let set) = met.content { list(set, isOutOfBand: false) }
    return met.record
  }

  private mutating func readSliceData(
    of bytes: borrowing NALUnitBytes, _ slice: SliceReading<Codec>?, at offset: UInt64, startsPicture: Bool
  ) {
    guard let countsBlocks = slices?.countsBlocks, current != nil, bytes.isWhole else { return }
    var context = NALUnitContext(offset: offset, slice: slice, startsPicture: startsPicture)
    if countsBlocks, slice != nil { context.references = walk.pictures.references }
    slices?.take(bytes.head, context, walk.sets)
  }

  private mutating func list(_ set: WalkedParameterSet<Codec>, isOutOfBand: Bool) {
    var record = ParameterSetRecord()
    record.accessUnit = current?.index ?? summary.accessUnits
    record.isOutOfBand = isOutOfBand
    record.isReplacement = set.isReplacement
    record.nalUnit = set.record
    record.format = set.format
    items.append(.parameterSet(record))
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
    var accessUnit = AccessUnitRecord()
    accessUnit.index = summary.accessUnits
    accessUnit.offset = offset
    current = accessUnit
    rules.setPlace(accessUnit: accessUnit.index, offset: offset)
    codedBytes = 0
    rules.beginAccessUnit()
    walk.beginAccessUnit()
    slices?.beginAccessUnit(accessUnit.index)
  }

  private mutating func endAccessUnit(at end: UInt64) {
    guard var accessUnit = current else { return }
    current = nil
    slices?.endAccessUnit(walk.sets)
    rules.setPlace(offset: accessUnit.offset)
    accessUnit.size = end > accessUnit.offset ? end - accessUnit.offset : 0
    let ended = walk.endAccessUnit()
    accessUnit.picture = walk.pictures.picture
    rules.check(ended, accessUnit.picture)
    let removed = buffer.remove(
      bytes: accessUnit.size, codedBytes: codedBytes, walk.pictures,
      interval: times.interval(before: accessUnit.sample))
    accessUnit.bufferFullness = removed?.removal.fullness
    accessUnit.bufferSize = removed.map { Int64(clamping: $0.parameters.size) }
    rules.check(accessUnit, walk.pictures, removed, times)
    times.take(accessUnit.sample)
    summary.add(accessUnit)
    items.append(.accessUnit(accessUnit))
    let record = items.count - 1
    flushFindings()
    guard let isFull = slices?.isFull else { return }
    unread.append(UnreadSlices(accessUnit: accessUnit.index, record: record, end: items.count))
    if isFull { addSliceData() }
  }

  /// Reads slice data, and adds them to the items: statistics to an access unit, findings behind its others.
  private mutating func addSliceData() {
    guard let results = slices?.finish() else { return }
    var added = 0
    for (place, result) in zip(unread, results) {
      summary.sliceData?.add(result.totals)
      if let statistics = result.statistics, case .accessUnit(var accessUnit) = items[place.record + added] {
        summary.statistics?.add(statistics)
        (accessUnit.statistics, accessUnit.blocks) = (statistics, result.blocks)
        items[place.record + added] = .accessUnit(accessUnit)
      }
      for finding in rules.check(result.defects, ofAccessUnit: place.accessUnit) {
        items.insert(.finding(finding), at: place.end + added)
        added += 1
      }
    }
    unread.removeAll(keepingCapacity: true)
  }

  private mutating func flushFindings() { for finding in rules.take() { items.append(.finding(finding)) } }
}

/// An access unit whose slice data are not in its items yet.
private struct UnreadSlices {
  var accessUnit: UInt64
  /// The index of its record in the items.
  var record: Int
  /// The index behind its items.
  var end: Int
}
