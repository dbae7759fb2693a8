// SPDX-License-Identifier: MPL-2.0
import H26x

/// The rules of a stream. Checks its contents, and collects the findings.
struct StreamRules<Codec: CheckedCodec> {
  private var log = FindingLog(Codec.codec)
  /// The findings in slice data, which may be read later than the rest of their access unit.
  private var sliceLog = FindingLog(Codec.codec)
  private var order = NALUnitOrderRules<Codec>()
  private var messages = MessageRules()
  private var container = ContainerRules<Codec>()
  private var metadata = MetadataRules<Codec>()
  private var framing = FramingRules()
  private var layers = LayerRules()

  /// The number of findings of each rule.
  var counts: [UInt64] {
    var counts = log.counts
    for (rule, count) in sliceLog.counts.enumerated() { counts[rule] += count }
    return counts
  }

  /// The findings since the last call.
  mutating func take() -> [Finding] { log.take() }

  /// Sets the access unit and the offset of the next findings.
  mutating func setPlace(accessUnit: UInt64, offset: UInt64? = nil) {
    (log.accessUnit, log.offset) = (accessUnit, offset ?? log.offset)
  }

  /// Sets the offset of the next findings.
  mutating func setPlace(offset: UInt64) { log.offset = offset }

  /// Checks bytes that are no NAL unit.
  mutating func check(garbage count: UInt64) { FramingRules.check(garbage: count, log: &log) }

  /// Checks the media rate of an edit, in 1/65536.
  mutating func check(editRate: UInt32) {
    let thousandths = (UInt64(editRate) * 1000) >> 16
    log.report(.containerEditRate, "an edit with media_rate \(thousandths)/1000", expected: "1")
  }

  /// Checks why the container cannot be read any further.
  mutating func check(damaged error: MP4.ReadError) { FramingRules.check(damaged: error, log: &log) }

  /// Checks a file whose end is missing.
  mutating func checkMissingEnd() { FramingRules.checkMissingEnd(log: &log) }

  mutating func beginAccessUnit() {
    order.beginAccessUnit()
    metadata.beginAccessUnit()
  }

  /// Begins a sample; see ``FramingRules/beginSample(size:available:log:)``.
  mutating func beginSample(size: UInt64, available: UInt64) {
    framing.beginSample(size: size, available: available, log: &log)
  }

  /// Counts a sample that has start codes in place of lengths.
  mutating func noticeStartCodes() { framing.noticeStartCodes(log) }

  /// Takes a NAL unit of no bytes in a sample.
  mutating func takeEmptyNALUnit(at offset: UInt64) { framing.takeEmptyNALUnit(at: offset, log: &log) }

  /// Checks a whole sample and its last picture.
  mutating func check(_ sample: SampleContents, _ picture: PictureRecord) {
    FramingRules.check(sample, picture, log: &log)
  }

  /// Checks a NAL unit.
  ///
  /// - Parameters:
  ///   - walk: the walk behind it.
  ///   - startsPicture: whether it is the first slice of a picture.
  ///   - isFirst: whether it is the first of its access unit.
  ///   - isInSample: whether the access unit is a sample of a container.
  mutating func check(
    _ met: borrowing WalkedNALUnit<Codec>, in walk: borrowing NALUnitWalk<Codec>, startsPicture: Bool, isFirst: Bool,
    isInSample: Bool
  ) {
    let unit = met.record
    Codec.Rules.check(met.header, unit, log: &log)
    if let (offset, byte) = met.forbiddenSequence {
      log.report(
        .emulationPrevention, "00 00 0\(byte) at byte \(offset) of the NAL unit",
        expected: "an emulation prevention byte")
    }
    if met.endsWithZero {
      log.report(
        isInSample ? .containerTrailingZero : .trailingBits, "a NAL unit that ends with a zero byte",
        expected: "another last byte")
    }
    switch met.role {
    case .slice: order.takePicture(unit, isStart: startsPicture, log: &log)
    case .slicePart: order.takePicture(unit, isStart: false, log: &log)
    case .layerSlice:
      order.takePicture(unit, isStart: false, log: &log)
      layers.check(unit, log: &log)
    default: break
    }
    switch met.content {
    case .slice(let slice): Codec.Rules.check(slice, in: walk, log: &log)
    case .unreadableSlice(let error):
      PictureRules.check(unreadable: error, expected: Codec.Rules.sliceHeader, log: &log)
    case .parameterSet(let set):
      ParameterSetRules.check(set, log: &log)
      container.check(inBand: set.format, log: &log)
    case .messages(let endsProperly):
      if !endsProperly {
        log.report(.trailingBits, "other bits at the end of \(unit.name)", expected: "rbsp_trailing_bits()")
      }
      if let error = unit.error {
        log.report(.unreadableSEI, ReportText(error), expected: "an SEI message that follows Annex D")
      }
    case .delimiter(let type): order.takeDelimiter(type, unit, log: &log)
    case .rpu(let rpu): metadata.take(rpu, unit.error, in: walk.pictures.picture, log: &log)
    case .other: metadata.take(unit)
    }
    order.check(unit, met.role, isFirst: isFirst, isInSample: isInSample, log: &log)
  }

  /// Checks the defects in the slice data of an access unit. Returns the findings.
  mutating func check(_ defects: [SliceDefect], ofAccessUnit index: UInt64) -> [Finding] {
    sliceLog.accessUnit = index
    for defect in defects {
      sliceLog.offset = defect.offset
      SliceDataRules.check(defect, log: &sliceLog)
    }
    return sliceLog.take()
  }

  /// Checks a NAL unit of a configuration record, and its parameter set, if that is new.
  mutating func check(
    outOfBand header: NALUnitHeaderDefects, _ record: NALUnitRecord, _ set: WalkedParameterSet<Codec>?
  ) {
    Codec.Rules.check(header, record, log: &log)
    if let set { ParameterSetRules.check(set, log: &log) }
  }

  /// Checks why a configuration record cannot be read.
  mutating func check(unreadableRecord error: BitstreamError) {
    ConfigurationRules<Codec>.check(unreadable: error, log: &log)
  }

  /// Checks a sample description, which holds for the next sample and later ones.
  mutating func check(_ description: MP4.VisualSampleDescription, _ record: WalkedConfiguration) {
    container.check(description, record, log: &log)
  }

  /// Takes the container's statements, which hold for the next sample and later ones.
  mutating func take(_ stated: ContainerMetadata) { metadata.take(stated) }

  /// Checks the picture of an access unit; `ended` is nil without one.
  mutating func check(_ ended: EndedPicture?, _ picture: PictureRecord) {
    if let ended { PictureRules.check(ended, log: &log) }
    order.endAccessUnit(letter: picture.letter, log: &log)
  }

  /// Checks an access unit's timing.
  ///
  /// - Parameters:
  ///   - pictures: the walk at its end.
  ///   - removed: its removal from the coded picture buffer.
  ///   - times: those of the container before its own.
  mutating func check(
    _ accessUnit: AccessUnitRecord, _ pictures: borrowing Codec.Pictures, _ removed: RemovedPicture?,
    _ times: SampleTimes
  ) {
    messages.check(pictures.messages, pictures.picture, hasBuffer: pictures.signalledBuffer != nil, log: &log)
    if let removed { PictureRules.check(removed, log: &log) }
    metadata.check(accessUnit, pictures, timescale: times.timescale, log: &log)
    container.check(
      accessUnit, times: times, period: pictures.messages.isRepeated ? nil : pictures.period,
      preferredTransfer: pictures.messages.preferredTransfer, limits: pictures.limits,
      pictureSize: pictures.pictureSize, log: &log)
  }

  /// Ends the stream.
  mutating func finish() {
    container.finish(log: &log)
    metadata.finish(log: &log)
    framing.finish(log: &log)
  }
}
