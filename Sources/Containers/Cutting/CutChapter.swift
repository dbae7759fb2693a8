// SPDX-License-Identifier: MPL-2.0
package import AVFormat

/// A chapter as a part of a video.
package struct CutChapter: Sendable, Hashable {
  /// In nanoseconds since the first picture.
  package let start: Int64
  package let end: Int64
  /// `nil` for none.
  package let title: String?

  package init(start: Int64, end: Int64, title: String? = nil) {
    (self.start, self.end, self.title) = (start, end, title)
  }

  /// - Parameter origin: when the first picture is presented, in nanoseconds of the chapter's clock.
  package init(_ chapter: Chapter, origin: Int64) {
    func time(_ ticks: Int64) -> Int64 {
      let time = TimeBase.nanoseconds.rescaled(ticks, from: chapter.timeBase)
      let (since, overflow) = time.subtractingReportingOverflow(origin)
      return overflow ? (origin < 0 ? .max : .min) : since
    }
    self.init(start: time(chapter.start), end: time(chapter.end), title: chapter.metadata[key: "title"])
  }
}
