// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Stage: the part of a file between the base class's start after a seek and the keyframe that was found ahead.
struct SkippedRange: Sendable {
  /// The rest of it, in bytes of the file.
  private var rest: Range<UInt64>?

  /// Skips from the beginning of the current data to another place.
  mutating func begin(from start: UInt64?, to end: UInt64) { rest = start.flatMap { $0 < end ? $0..<end : nil } }

  /// Whether the data at this offset is skipped. Data elsewhere ends it: the base class has sought.
  mutating func contains(_ offset: UInt64?) -> Bool {
    guard let rest else { return false }
    if offset != rest.lowerBound { self.rest = nil }
    return offset == rest.lowerBound
  }

  /// How the current data is skipped, or a part of it; nil when it is not.
  mutating func skip(_ available: Int, at offset: UInt64?) -> (step: ParseStep, isDropped: Bool)? {
    guard let rest, offset == rest.lowerBound else { return nil }
    // The base class gives up if it must skip a lot of held data, but not if that data is a frame.
    let isDropped = available > ParserLimits.skipSize
    let size = min(Int(clamping: rest.upperBound - rest.lowerBound), isDropped ? available : Int(Int32.max))
    let next = rest.lowerBound + UInt64(size)
    self.rest = next < rest.upperBound ? next..<rest.upperBound : nil
    return (isDropped ? .frame(size: size) : .skip(size), isDropped)
  }
}
