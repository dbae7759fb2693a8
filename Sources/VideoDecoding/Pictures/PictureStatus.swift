// SPDX-License-Identifier: MPL-2.0
import H26x

/// A session's record of a picture that is output.
struct PictureStatus {
  let tag: UInt64
  let time: Duration?
  let duration: Duration?
  let display: DisplayMetadata
  let isCorrupt: Bool
  let isSingleField: Bool
  let isRandomAccessPoint: Bool
  let latency: SessionLatency

  init(_ record: LedgerEntry, isCorrupt: Bool, latency: SessionLatency) {
    tag = record.request.tag
    time = record.request.time
    duration = record.request.duration
    display = record.request.display
    self.isCorrupt = isCorrupt
    isSingleField = record.summary.isField && !record.hasBothFields
    isRandomAccessPoint = record.summary.randomAccess != .none
    self.latency = latency
  }
}
