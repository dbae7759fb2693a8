// SPDX-License-Identifier: MPL-2.0
import CAVFormat

/// A chapter of a container (`AVChapter`).
package struct Chapter: Sendable, Hashable {
  package let id: Int64
  /// Ticks of its times.
  package let timeBase: TimeBase
  /// The beginning, in ticks.
  package let start: Int64
  /// The end, in ticks.
  package let end: Int64
  package let metadata: MetadataDictionary

  package init(id: Int64, timeBase: TimeBase, start: Int64, end: Int64, metadata: MetadataDictionary) {
    (self.id, self.timeBase, self.start, self.end, self.metadata) = (id, timeBase, start, end, metadata)
  }

  init(copying chapter: UnsafePointer<AVChapter>) {
    unsafe self.init(
      id: Int64(chapter.pointee.id), timeBase: TimeBase(chapter.pointee.time_base) ?? .nanoseconds,
      start: chapter.pointee.start, end: chapter.pointee.end,
      metadata: MetadataDictionary(copying: chapter.pointee.metadata))
  }
}
