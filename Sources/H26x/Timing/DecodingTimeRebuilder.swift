// SPDX-License-Identifier: MPL-2.0

/// Derives decoding times for pictures in decoding order that have presentation times only, as from Matroska.
///
/// The decoding times are the presentation times in ascending order, r pictures late, with the reorder depth r. The
/// first r are extrapolated, below 0 if presentation begins at 0. They are never later than presentation, and
/// increase as long as that allows it. No picture has to wait.
public struct DecodingTimeRebuilder: Sendable {
  private let depth: Int
  private let frameDuration: Int64
  /// Presentation times not used yet, ascending; never more than `depth` + 1.
  private var waiting: [Int64] = []
  private var least: Int64 = .max
  private var count = 0
  private var last: Int64?

  /// Creates a rebuilder.
  ///
  /// - Parameters:
  ///   - reorderDepth: in pictures, each field of which counts: at most 32.
  ///   - frameDuration: in the unit of the times, to extrapolate the first times; 0 if unknown.
  public init(reorderDepth: Int, frameDuration: Int64 = 0) {
    depth = max(0, min(reorderDepth, 2 * FormatDescription.deepestReordering))
    self.frameDuration = max(0, min(frameDuration, 1 << 40))
  }

  /// Starts over, as after a seek.
  public mutating func reset() { self = DecodingTimeRebuilder(reorderDepth: depth, frameDuration: frameDuration) }

  /// The decoding time of the next picture.
  ///
  /// - Parameter presentation: its presentation time, 0 or more, in any unit.
  /// - Returns: the decoding time in the same unit; the first times may be below 0.
  public mutating func next(presentation: Int64) -> Int64 {
    let presentation = max(0, presentation)
    var index = waiting.count
    while index > 0, waiting[index - 1] > presentation { index -= 1 }
    waiting.insert(presentation, at: index)
    least = min(least, presentation)
    var time: Int64
    if waiting.count > depth {
      time = waiting.removeFirst()
    } else {
      time = least - Int64(depth - count) * frameDuration
      count += 1
    }
    if let last, time <= last { time = last == .max ? last : last + 1 }
    // If time goes back, as at a splice, decoding must not be later than presentation.
    time = min(time, presentation)
    last = time
    return time
  }
}
