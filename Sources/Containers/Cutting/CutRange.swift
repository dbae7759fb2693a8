// SPDX-License-Identifier: MPL-2.0

/// A part of a video that a user names: all pictures from `start` up to, but not including, `end`.
package struct CutRange: Sendable, Hashable {
  package let start: CutPosition
  /// `nil` for the end of the video.
  package let end: CutPosition?
  /// The title of the range; `nil` for none.
  package let name: String?

  /// - Throws: a `Failure` if both positions are times, or both are pictures, and the end is not after the start.
  package init(start: CutPosition = .beginning, end: CutPosition? = nil, name: String? = nil) throws(Failure) {
    (self.start, self.end, self.name) = (start, end, name)
    let isInOrder =
      switch (start, end) {
      case (.time(let start), .time(let end)): start < end
      case (.picture(let start), .picture(let end)): start < end
      // No picture is in front of the first one, whatever its time is.
      case (_, .time(0)), (_, .picture(0)): false
      default: true
      }
    guard isInOrder else { throw Failure("range \(text): its end is not after its start", .usage) }
  }

  /// Reads `A-B`, `A-` or `-B`.
  ///
  /// - Throws: a `Failure` if the text is not a range, or the range is empty.
  package init(text: String) throws(Failure) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let positions = parts.map { CutPosition(text: $0) }
    guard parts.count == 2, text.utf8.count > 1, zip(parts, positions).allSatisfy({ $0.isEmpty || $1 != nil }) else {
      throw Failure(
        "range \(ArgumentText.shown(text)): expected A-B, A- or -B, of times such as 90, 1:30 or 1:02:03.5, or pictures "
          + "such as #0",
        .usage)
    }
    try self.init(start: positions[0] ?? .beginning, end: positions[1])
  }

  /// The range for the user: `0:01:30.000-#7`.
  package var text: String { "\(start.text)-\(end?.text ?? "")" }

  /// Whether a position is the number of a picture.
  var namesPictures: Bool {
    for position in [start, end] { if case .picture? = position { return true } }
    return false
  }
}
