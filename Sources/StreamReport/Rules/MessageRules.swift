// SPDX-License-Identifier: MPL-2.0

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
