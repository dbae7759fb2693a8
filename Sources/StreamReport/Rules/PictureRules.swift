// SPDX-License-Identifier: MPL-2.0
import H26x

/// Rules of slices and pictures that both codecs share.
enum PictureRules {
  /// A slice whose header cannot be read.
  static func check(unreadable error: BitstreamError, expected: StaticString, log: inout FindingLog) {
    if error.reason == .missingParameterSet {
      log.report(
        .missingParameterSet, "a slice whose PPS or SPS is missing", expected: "the PPS and its SPS before it")
    } else {
      log.report(.unreadableSlice, ReportText(error), expected: "\(expected)")
    }
  }

  static func check(quantizationParameter: Int?, lumaBitDepth: UInt8, log: inout FindingLog) {
    guard let value = quantizationParameter else { return }
    let lowest = -6 * (Int(lumaBitDepth) - 8)
    if value < lowest || value > 51 { log.report(.quantization, "slice QP \(value)", expected: "\(lowest) to 51") }
  }

  /// Checks a picture's POC.
  ///
  /// - Parameters:
  ///   - met: its depth in output order, and whether its POC was there before.
  ///   - mayRepeat: whether a repeated POC is no finding, as when pictures are missing.
  ///   - allowed: the signalled reorder depth, and the name of its syntax element; nil if it is not signalled.
  static func check(
    order: Int32, _ met: (depth: Int, isRepeated: Bool), mayRepeat: Bool,
    allowed: (count: Int, element: StaticString)?, log: inout FindingLog
  ) {
    if met.isRepeated, !mayRepeat {
      log.report(
        .pictureOrderRepeated, "POC \(order) again", expected: "a POC that no other picture of the sequence has")
    }
    if let allowed, met.depth > allowed.count {
      let pictures = met.depth == 1 ? "1 picture precedes" : "\(met.depth) pictures precede"
      log.report(
        .reorderDepth, "\(pictures) one in decoding order but not in output order",
        expected: "\(allowed.element) \(allowed.count) at most")
    }
  }

  /// Checks an SPS that became active with a picture that begins no coded video sequence.
  ///
  /// - Parameter start: the pictures that may begin one.
  static func check(_ activation: LateActivation, expected start: StaticString, log: inout FindingLog) {
    let (id, active) = (activation.id.rawValue, activation.active.rawValue)
    log.report(
      .setActivation, id == active ? "SPS \(id) with other contents" : "SPS \(id) after SPS \(active)",
      expected: "the same SPS until \(start)")
  }

  /// Checks pictures that wait for output and are discarded.
  ///
  /// - Parameters:
  ///   - count: their number.
  ///   - picture: the picture that discards them.
  ///   - other: one that outputs them.
  static func check(
    discarded count: Int, by picture: StaticString, expected other: StaticString, log: inout FindingLog
  ) {
    guard count > 0 else { return }
    let waiting: ReportText = count == 1 ? "1 picture waits" : "\(count) pictures wait"
    log.report(
      .discardedOutput, "\(picture) while \(waiting) for output",
      expected: "\(other)")
  }

  /// Checks how a picture was marked and stored.
  static func check(_ ended: EndedPicture, log: inout FindingLog) {
    for (operation, name, number) in ended.missing {
      log.report(
        .missingMarked, "operation \(operation) for \(name) \(number)",
        expected: "a picture that is marked as reference")
    }
    if let (count, limit) = ended.references, count > max(1, limit) {
      log.report(.tooManyReferences, "\(count) reference frames", expected: "max_num_ref_frames \(limit)")
    }
    guard let trouble = ended.trouble else { return }
    if trouble.isFull {
      log.report(
        .decodedBufferFull, "every picture of the buffer is a reference",
        expected: "room in a buffer of \(ended.capacity) pictures")
    }
    if let late = trouble.late {
      log.report(
        .outputOrder, "POC \(late.order) output after \(late.behind)",
        expected: "pictures in order from a buffer of \(ended.capacity) pictures")
    }
  }

  /// Checks a picture's removal from the coded picture buffer.
  static func check(_ removed: RemovedPicture, log: inout FindingLog) {
    let (parameters, removal) = (removed.parameters, removed.removal)
    if removal.missing > 0 {
      log.report(
        parameters.isSignalled ? .bufferUnderflow : .levelUnderflow,
        "\(removed.bits) bits, of which \(removal.missing) come too late at \(parameters.bitRate) bit/s",
        expected: "at most \(removal.fullness) bits")
    }
    if removal.excess > 0, parameters.isSignalled {
      log.report(
        .bufferOverflow, "\(removal.excess) bits more than the buffer holds",
        expected: "at most \(parameters.size) bits")
    }
  }
}

/// Rules on pictures above the base layer: other layers of H.265, such as the second view of MV-HEVC or alpha, and
/// other views and layers of H.264. Each layer is reported once.
struct LayerRules {
  /// A bit for each `nuh_layer_id` that was met.
  private var met: UInt64 = 0

  /// Checks a NAL unit of a picture that is not of the base layer.
  mutating func check(_ unit: NALUnitRecord, log: inout FindingLog) {
    // In H.264 the NAL unit's type alone shows it.
    let layer = UInt64(unit.layerID ?? 0) & 63
    guard met & 1 << layer == 0 else { return }
    met |= 1 << layer
    log.report(
      .decoderLayers, layer > 0 ? "pictures of layer \(layer)" : "pictures of another view or layer",
      expected: "only the base layer")
  }
}

/// Checks that SEI messages are there and fit the picture.
struct MessageRules: Sendable {
  private var hasReportedPeriod = false
  private var hasReportedTiming = false

  /// - Parameter hasBuffer: whether the stream has HRD parameters.
  mutating func check(
    _ messages: AccessUnitSEI, _ picture: PictureRecord, hasBuffer: Bool, log: inout FindingLog
  ) {
    guard picture.exists else { return }
    if let isField = messages.isField, isField != picture.isField {
      log.report(
        .pictureType, "pic_struct of a \(isField ? "field" : "frame")",
        expected: "that of a \(picture.isField ? "field" : "frame")")
    }
    guard hasBuffer else { return }
    let begins = [.idr, .cra, .bla].contains(picture.keyframe) && !picture.onlyCompletes
    // Once each: a stream without them lacks them in every picture.
    if begins, !messages.hasBufferingPeriod, !hasReportedPeriod {
      hasReportedPeriod = true
      log.report(.missingTimingSEI, "HRD parameters without buffering period SEI", expected: "one with this picture")
    }
    if !messages.hasPictureTiming, !hasReportedTiming {
      hasReportedTiming = true
      log.report(.missingTimingSEI, "HRD parameters without picture timing SEI", expected: "one with this picture")
    }
  }
}
