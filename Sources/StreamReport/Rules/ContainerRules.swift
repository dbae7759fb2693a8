// SPDX-License-Identifier: MPL-2.0
import H26x

/// Compares a container's description with the stream inside.
struct ContainerRules<Codec: CheckedCodec> {
  private var description: MP4.VisualSampleDescription?
  /// Picture order counts and presentation times of the last pictures in the sequence.
  private var shown: [(order: Int32, time: Int64)] = []
  private var sequence: UInt64 = 0
  private var frameRate = ContainerFrameRate()
  private var measuredRate = MeasuredRate()
  /// Whether a sample was not marked as a sync sample.
  private var hasOtherSamples = false
  /// The colour description of the container and of the VUI, if they differ, until the first picture comes.
  private var contradiction: Contradiction?
  private static var limit: Int { 32 }

  private struct Contradiction {
    var container: MP4.VisualSampleDescription.Colour
    var own: ColourDescription
    var isTransferAlone: Bool
  }

  /// Whether the sample entry type allows in-band parameter sets.
  private var allowsInBand: Bool { description?.coding.allowsInBandParameterSets ?? false }

  /// Checks a sample description, which holds for the next sample and later ones.
  mutating func check(
    _ description: MP4.VisualSampleDescription, _ record: WalkedConfiguration, log: inout FindingLog
  ) {
    self.description = description
    ConfigurationRules<Codec>.check(record, log: &log)
    if let format = record.format { check(format, log: &log) }
    // A record without parameter sets is allowed if they are in-band.
    if !record.hasSequence, !allowsInBand {
      log.report(.containerConfiguration, "no SPS in the record", expected: "an SPS")
    }
  }

  private mutating func check(_ format: FormatRecord, log: inout FindingLog) {
    guard let description, description.width > 0, description.height > 0 else { return }
    let isOfFrame = format.isFieldSequence && description.height == format.height * 2
    if description.width != format.width || description.height != format.height && !isOfFrame {
      log.report(
        .containerSize, "\(description.width)x\(description.height) in the sample description",
        expected: "\(format.width)x\(format.height) as in the SPS")
    }
    contradiction = nil
    if let colour = description.colour, let own = format.colour {
      let others = Self.differ(own.primaries, colour.primaries) || Self.differ(own.matrix, colour.matrix)
      if others || Self.differ(own.transfer, colour.transfer) {
        contradiction = Contradiction(container: colour, own: own, isTransferAlone: !others)
      }
    }
    if let isFull = description.colour?.isFullRange, let own = format.isFullRange, isFull != own {
      log.report(
        .containerColour, "colr full_range_flag \(isFull ? 1 : 0)",
        expected: "video_full_range_flag \(own ? 1 : 0) as in the VUI")
    }
  }

  /// Whether two code points of H.273 contradict each other; 2 is unspecified.
  private static func differ(_ own: UInt8, _ other: UInt16) -> Bool { UInt16(own) != other && own != 2 && other != 2 }

  /// Reports another colour in the container, unless SEI of the first picture prefers its transfer characteristics
  /// (backward-compatible HLG).
  private mutating func checkColour(preferredTransfer: UInt8?, log: inout FindingLog) {
    guard let found = contradiction else { return }
    contradiction = nil
    if found.isTransferAlone, let preferredTransfer, found.container.transfer == UInt16(preferredTransfer) { return }
    log.report(
      .containerColour, "colr \(found.container.primaries)/\(found.container.transfer)/\(found.container.matrix)",
      expected: "\(found.own.primaries)/\(found.own.transfer)/\(found.own.matrix) as in the VUI")
  }

  /// Checks a parameter set in the stream that is new or changed.
  ///
  /// - Parameter format: that of an SPS; nil for another set.
  mutating func check(inBand format: FormatRecord?, log: inout FindingLog) {
    guard let description, !allowsInBand else { return }
    log.report(
      .containerParameterSets, "a parameter set in a sample of \(description.coding.name) that is not in its record",
      expected: "all parameter sets in the configuration record")
    if let format { check(format, log: &log) }
  }

  /// Checks sync flag, timestamps and frame rate of an access unit.
  ///
  /// - Parameters:
  ///   - times: those before its own.
  ///   - period: the duration of a picture by the stream in seconds; nil if it has none, and for pictures that are
  ///     shown more than once.
  ///   - preferredTransfer: by an alternative transfer characteristics SEI; nil without one.
  ///   - limits: those of the level; nil for an unknown level.
  ///   - pictureSize: macroblocks or luma samples in a picture.
  mutating func check(
    _ accessUnit: AccessUnitRecord, times: SampleTimes, period: Double?, preferredTransfer: UInt8?,
    limits: LevelLimits?,
    pictureSize: UInt64,
    log: inout FindingLog
  ) {
    checkColour(preferredTransfer: preferredTransfer, log: &log)
    guard let sample = accessUnit.sample else { return }
    if times.timescale > 0, accessUnit.letter != nil, !accessUnit.isSecondField {
      let pictures: Double = accessUnit.isField && Codec.Rules.joinsFields ? 2 : 1
      frameRate.add(
        Double(sample.pts) / Double(times.timescale), period: period.map { $0 * pictures },
        log: &log)
    }
    let isRandomAccess = accessUnit.keyframe != .none
    hasOtherSamples = hasOtherSamples || sample.isSync == false
    // matroskademux, which gives no DTS, may mark every block as a sync sample: then the flags mean nothing.
    let isMeaningful = sample.dts != nil || hasOtherSamples
    if sample.isSync == true, isMeaningful, !isRandomAccess, accessUnit.letter != nil {
      log.report(
        .containerSync, "a sync sample that is not a random access point",
        expected: "an IDR or IRAP picture or a recovery point")
    } else if sample.isSync == false, accessUnit.keyframe == .idr {
      log.report(.containerSync, "an IDR picture that is not a sync sample", expected: "a sync sample")
    }
    if let last = times.last?.dts, let time = sample.dts, time < last {
      log.report(.containerTimestamps, "DTS \(time) after \(last)", expected: "ascending decoding times")
    }
    if let time = sample.dts, let limits, accessUnit.letter != nil {
      measuredRate.add(time, timescale: times.timescale, size: pictureSize, rate: limits.rate, log: &log)
    }
    guard let order = accessUnit.pictureOrderCount else { return }
    if accessUnit.sequence != sequence {
      shown.removeAll(keepingCapacity: true)
      sequence = accessUnit.sequence
    }
    for other in shown where (other.order < order) != (other.time < sample.pts) && other.order != order {
      log.report(
        .containerTimestamps, "PTS \(sample.pts) with POC \(order), \(other.time) with \(other.order)",
        expected: "the same order in both")
      break
    }
    shown.append((order, sample.pts))
    if shown.count > Self.limit { shown.removeFirst() }
  }

  /// Ends the stream.
  mutating func finish(log: inout FindingLog) { frameRate.finish(log: &log) }
}
