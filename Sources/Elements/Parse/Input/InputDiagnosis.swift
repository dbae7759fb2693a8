// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: finds out at the end of a stream why it had no pictures.
struct InputDiagnosis<Codec: ParserCodec>: Sendable {
  /// Pictures that were output.
  private(set) var pictureCount: UInt64 = 0
  /// Bytes consumed.
  private var byteCount: UInt64 = 0
  private var hasData = false
  private var hasGaps = false
  private var hasReported = false
  private var awaitsEnd = false

  mutating func noticePicture() { pictureCount += 1 }
  mutating func noticeData() { hasData = true }
  /// Upstream has sent GAP: no data, on purpose.
  mutating func noticeGap() { hasGaps = true }
  mutating func finish(_ bytes: Int) { byteCount += UInt64(max(0, bytes)) }

  /// Schedules a report of missing pictures for the end of the stream. Returns whether this is the first time.
  mutating func awaitEnd() -> Bool {
    guard pictureCount == 0, !awaitsEnd else { return false }
    awaitsEnd = true
    return true
  }

  /// The error for a stream that has ended; nil when there is none, or when it was reported before. An end without any
  /// data is no error, except for an empty file.
  mutating func end(
    hasParameterSets: Bool, _ errors: ScannerErrors, isEmptyFile: Bool = false
  ) -> ElementError? {
    awaitsEnd = false
    guard pictureCount == 0, !hasReported, isEmptyFile || hasData && !hasGaps else { return nil }
    hasReported = true
    let found =
      if !hasParameterSets && errors.missingParameterSets == 0 {
        "no \(Codec.name) NAL unit that is usable"
      } else if errors.missingParameterSets > 0 {
        "slices without their parameter sets"
      } else {
        "parameter sets without slices"
      }
    return ElementError(
      .stream(.wrongType), "There is no \(Codec.name) video in this stream: no picture found in \(byteCount) bytes.",
      debug: "found \(found), expected an SPS, a PPS and coded slices after start codes or lengths")
  }
}
