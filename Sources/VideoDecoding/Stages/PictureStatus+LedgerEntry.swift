// SPDX-License-Identifier: MPL-2.0

extension PictureStatus {
  init(_ record: LedgerEntry, isCorrupt: Bool, latency: SessionLatency) {
    self.init(
      tag: record.tag, time: record.time, duration: record.duration, display: record.display, isCorrupt: isCorrupt,
      isSingleField: record.isField && !record.hasBothFields, isRandomAccessPoint: record.isRandomAccessPoint,
      latency: latency)
  }
}
