// SPDX-License-Identifier: MPL-2.0
import AVFormat

extension OtherStreamSpan {
  /// The parts of chapters that are kept, with times of the part.
  func clipped(_ chapters: [Chapter]) -> [Chapter] {
    chapters.compactMap { chapter in
      let first = chapter.timeBase.rescaled(start, from: .nanoseconds)
      let last = end.map { chapter.timeBase.rescaled($0, from: .nanoseconds) } ?? .max
      let (begin, finish) = (max(chapter.start, isOpen ? min(first, chapter.start) : first), min(chapter.end, last))
      guard begin < finish else { return nil }
      return Chapter(
        id: chapter.id, timeBase: chapter.timeBase, start: begin - first, end: finish - first,
        metadata: chapter.metadata)
    }
  }
}

extension Chapter {
  /// The same part of a presentation that begins earlier by so many nanoseconds. Muxers refuse times below 0.
  ///
  /// - Parameter id: another number; `nil` to keep its own.
  func delayed(by nanoseconds: Int64, id: Int64? = nil) -> Chapter {
    let ticks = timeBase.rescaled(nanoseconds, from: .nanoseconds)
    return Chapter(
      id: id ?? self.id, timeBase: timeBase, start: max(start &+ ticks, 0), end: max(end &+ ticks, 0),
      metadata: metadata)
  }
}
