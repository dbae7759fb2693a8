// SPDX-License-Identifier: MPL-2.0

extension PictureStatus {
  init(_ record: LedgerEntry, isCorrupt: Bool, latency: SessionLatency) {
    self.init(
      tag: record.request.tag, time: record.request.time, duration: record.request.duration,
      display: record.request.display, isCorrupt: isCorrupt,
      isSingleField: record.summary.isField && !record.hasBothFields,
      isRandomAccessPoint: record.summary.randomAccess != .none, latency: latency)
  }
}
