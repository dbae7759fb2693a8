// SPDX-License-Identifier: MPL-2.0
import H26x

/// Holds what a container says against the stream inside.
struct ContainerChecker<Codec: ReportedCodec> {
  private var description: MP4.VisualSampleDescription?
  private var timescale: UInt32 = 0
  /// Order counts and presentation times of the sequence, as far as they may still be out of order.
  private var shown: [(order: Int32, time: Int64)] = []
  private var sequence: UInt64 = 0
  private var lastDecodingTime: Int64?
  private var frameRate = ContainerFrameRate()
  /// A sample came that is none to begin at.
  private var tellsOthers = false
  private static var limit: Int { 32 }

  /// Whether parameter sets may stand in the stream.
  private var allowsInBand: Bool {
    switch description?.coding {
    case FourCharacterCode("avc3"), FourCharacterCode("avc4"), FourCharacterCode("hev1"), FourCharacterCode("dvhe"),
      FourCharacterCode("dvav"):
      true
    default: false
    }
  }

  mutating func configure(_ description: MP4.VisualSampleDescription, timescale: UInt32, log: inout FindingLog) {
    self.description = description
    self.timescale = timescale
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(description.configuration.span)
      for nalUnit in record.nalUnits where Codec.role(of: nalUnit.span) == .sequenceParameterSet {
        if let format = Codec.format(nalUnit.span) { check(format, log: &log) }
        return
      }
      // A record without parameter sets is fine where they come in band.
      if !allowsInBand { log.report(.containerConfiguration, "no SPS in the record", expected: "an SPS") }
    } catch {
      log.report(.containerConfiguration, ReportText(error), expected: "a configuration record")
    }
  }

  private func check(_ format: FormatRecord, log: inout FindingLog) {
    guard let description, description.width > 0, description.height > 0 else { return }
    if description.width != format.width || description.height != format.height {
      log.report(
        .containerSize, "\(description.width)x\(description.height) in the sample description",
        expected: "\(format.width)x\(format.height) as in the SPS")
    }
    if let colour = description.colour, let own = format.colour,
      colour.primaries != own.primaries || colour.transfer != own.transfer || colour.matrix != own.matrix
    {
      log.report(
        .containerColour, "colr \(colour.primaries)/\(colour.transfer)/\(colour.matrix)",
        expected: "\(own.primaries)/\(own.transfer)/\(own.matrix) as in the VUI")
    }
  }

  /// A parameter set in the stream that is new, or other than before.
  mutating func inBand(
    _ nalUnit: Span<UInt8>, _ change: ParameterSetChange, format: FormatRecord?, log: inout FindingLog
  ) {
    guard let description, !allowsInBand else { return }
    log.report(
      .containerParameterSets, "a parameter set in a sample of \(description.coding.name) that its record has not",
      expected: "all parameter sets in the configuration record")
    if let format { check(format, log: &log) }
  }

  /// How long an access unit lasts, in seconds; nil when the container does not say.
  func duration(of sample: AccessUnitRecord.Sample?) -> Double? {
    guard let sample, timescale > 0, sample.duration > 0 else { return nil }
    return Double(sample.duration) / Double(timescale)
  }

  /// - Parameter period: how long a picture lasts by the stream, in seconds; nil when it does not say, or when pictures
  ///   are to be shown more than once.
  mutating func check(_ unit: AccessUnitRecord, period: Double?, log: inout FindingLog) {
    guard let sample = unit.sample else { return }
    if timescale > 0, unit.letter != nil, !unit.isSecondField {
      // Two fields of H.264 are one sample; in H.265 each is one.
      let pictures: Double = unit.isField && Codec.codec == .h264 ? 2 : 1
      frameRate.add(
        Double(sample.pts) / Double(timescale), period: period.map { $0 * pictures },
        log: &log)
    }
    let isRandomAccess = unit.keyframe != .none
    tellsOthers = tellsOthers || !sample.isSync
    // GStreamer's demultiplexer of Matroska, which gives no DTS, calls every block of a group one to begin at.
    let isTold = sample.dts != nil || tellsOthers
    if sample.isSync, isTold, !isRandomAccess, unit.letter != nil {
      log.report(
        .containerSync, "a sync sample whose picture is none to begin at", expected: "an IDR, IRAP or recovery point")
    } else if !sample.isSync, unit.keyframe == .idr {
      log.report(.containerSync, "an IDR picture that is no sync sample", expected: "a sync sample")
    }
    if let last = lastDecodingTime, let time = sample.dts, time < last {
      log.report(.containerTimestamps, "DTS \(time) behind \(last)", expected: "ascending decoding times")
    }
    lastDecodingTime = sample.dts
    guard let order = unit.pictureOrderCount else { return }
    if unit.sequence != sequence {
      shown.removeAll(keepingCapacity: true)
      sequence = unit.sequence
    }
    for other in shown where (other.order < order) != (other.time < sample.pts) && other.order != order {
      log.report(
        .containerTimestamps, "PTS \(sample.pts) with order count \(order), \(other.time) with \(other.order)",
        expected: "the same order in both")
      break
    }
    shown.append((order, sample.pts))
    if shown.count > Self.limit { shown.removeFirst() }
  }

  /// Nothing more comes.
  mutating func finish(log: inout FindingLog) { frameRate.finish(log: &log) }
}
