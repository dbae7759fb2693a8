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
