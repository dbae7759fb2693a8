// SPDX-License-Identifier: MPL-2.0
import H26x

/// Checks how NAL units lie in a byte stream or in the samples of a container, regardless of their contents.
struct FramingRules: Sendable {
  /// Whether the sample has had the finding: with a wrong size of lengths there may be as many as bytes.
  private var hasReportedEmptyNALUnit = false
  /// The samples with start codes in place of lengths, and the place of the first one.
  private var startCodes: (samples: UInt64, accessUnit: UInt64, offset: UInt64)?

  /// Bytes of a byte stream that are no NAL unit.
  static func check(garbage count: UInt64, log: inout FindingLog) {
    log.report(.garbage, "\(count) bytes before a start code", expected: "zero bytes and start codes")
  }

  /// A box because of which the container cannot be read any further.
  static func check(damaged error: MP4.ReadError, log: inout FindingLog) {
    log.report(.containerSample, "box \(error.box.name) that cannot be read", expected: "boxes up to the end")
  }

  /// A file whose end is missing, by the structure of its container.
  static func checkMissingEnd(log: inout FindingLog) {
    log.report(.truncated, "a file that is cut off", expected: "a complete file")
  }

  /// Begins a sample.
  ///
  /// - Parameters:
  ///   - size: its size by the container.
  ///   - available: how many of these bytes the file has.
  mutating func beginSample(size: UInt64, available: UInt64, log: inout FindingLog) {
    hasReportedEmptyNALUnit = false
    if available < size {
      log.report(.containerSample, "\(available) bytes of a sample of \(size)", expected: "the whole sample")
    }
  }

  /// Counts a sample that has start codes in place of lengths.
  mutating func noticeStartCodes(_ log: borrowing FindingLog) {
    let first = startCodes ?? (0, log.accessUnit, log.offset)
    startCodes = (first.samples + 1, first.accessUnit, first.offset)
  }

  /// Ends the stream: all samples with start codes are one finding.
  mutating func finish(log: inout FindingLog) {
    guard let startCodes else { return }
    (log.accessUnit, log.offset) = (startCodes.accessUnit, startCodes.offset)
    log.report(.containerSample, "\(startCodes.samples) samples with start codes", expected: "lengths instead")
  }

  /// Takes a NAL unit of no bytes.
  mutating func takeEmptyNALUnit(at offset: UInt64, log: inout FindingLog) {
    guard !hasReportedEmptyNALUnit else { return }
    hasReportedEmptyNALUnit = true
    log.offset = offset
    log.report(.containerSample, "a NAL unit of 0 bytes", expected: "NAL units with a header")
  }

  /// Checks a whole sample.
  ///
  /// - Parameter picture: its last picture.
  static func check(_ sample: SampleContents, _ picture: PictureRecord, log: inout FindingLog) {
    if let failure = sample.failure {
      log.report(.containerSample, ReportText(failure), expected: "lengths that fill the sample")
    }
    if let misplaced = sample.misplaced {
      log.offset = misplaced.offset
      log.report(.order, "\(misplaced.name) after the picture", expected: "a place before the first slice")
    }
    if sample.pictures > 1, !picture.isSecondField {
      log.report(.containerSample, "\(sample.pictures) pictures in a sample", expected: "one access unit")
    }
  }
}
