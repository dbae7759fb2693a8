// SPDX-License-Identifier: MPL-2.0

/// The findings of a scanner in an access unit, or in a NAL unit if it cuts NAL units.
///
/// Offsets are in bytes from its start.
public struct ScannedAccessUnit<SliceHeader: Sendable>: Sendable {
  /// The kinds of NAL units and slices inside.
  public typealias Contents = AccessUnitContents
  /// A NAL unit inside.
  public typealias NALUnit = ScannedNALUnit

  /// The kinds of NAL units and slices inside.
  public var contents: Contents = []
  /// The NAL units in order, when ``AccessUnitScanning/listsNALUnits`` is set. Beyond ``nalUnitLimit`` the last one
  /// covers the rest.
  public var nalUnits: [NALUnit] = []
  /// Number of NAL units, with those in ``dropped``.
  public var nalUnitCount = 0
  /// Number of pictures that begin in it: two if a packet holds both fields of a frame.
  public var pictureCount = 0
  /// End of the last NAL unit; zeros may follow it.
  public var end = 0
  /// Offset of the first SEI, with start code or length.
  public var seiOffset: Int?
  /// The SEI NAL units, ``seiLimit`` at most.
  public var seiNALUnits: [NALUnit] = []
  /// Offset of the first slice, with start code or length, whose type marks a random access point.
  public var randomAccessOffset: Int?
  /// The header of the first slice of the primary picture that could be read.
  public var slice: SliceHeader?
  /// Parts to drop, with start codes or lengths: NAL units truncated after their header, or of types that only RTP
  /// has. In ascending order, never adjacent. Beyond ``nalUnitLimit`` they are not dropped.
  public var dropped: [Range<Int>] = []
  /// Whether start codes were found in a length-prefixed access unit.
  public var holdsStartCodes = false
  /// The findings about start codes in front of it.
  package var startCodes = LengthPrefixed.StartCodes()

  /// SEI NAL units kept of one unit at most: a hostile stream can have millions.
  public static var seiLimit: Int { 256 }

  /// NAL units listed of one unit at most: a picture of level 6.2 has 139,264 macroblocks, each of which may be a
  /// slice.
  public static var nalUnitLimit: Int { 150_000 }

  /// Creates an empty unit.
  public init() {}

  /// NAL units whose memory is kept for the next unit: more than most pictures have.
  private static var keptCapacity: Int { 256 }

  /// Empties it, but keeps its memory if that is small.
  mutating func removeAll() {
    var empty = ScannedAccessUnit()
    if nalUnits.capacity <= Self.keptCapacity {
      nalUnits.removeAll(keepingCapacity: true)
      swap(&empty.nalUnits, &nalUnits)
    }
    self = empty
  }

  /// Drops a part after everything so far.
  mutating func drop(_ range: Range<Int>) {
    if let last = dropped.last, last.lowerBound >= end {
      // Nothing was kept in between: one part for any number of NAL units.
      dropped[dropped.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    } else if dropped.count < Self.nalUnitLimit {
      dropped.append(range)
    }
  }

  mutating func list(_ nalUnit: NALUnit) {
    guard let last = nalUnits.last, nalUnits.count >= Self.nalUnitLimit else { return nalUnits.append(nalUnit) }
    let contents = nalUnit.contents.map { (last.contents ?? []).union($0) } ?? last.contents
    let range = last.range.lowerBound..<max(last.range.lowerBound, nalUnit.range.upperBound)
    nalUnits[nalUnits.count - 1] = NALUnit(start: last.start, range: range, contents: contents)
  }

  /// The offset to insert parameter sets at: in front of the first slice of a random access point, and of any SEI
  /// before that. `nil` without such a slice.
  public var parameterSetOffset: Int? {
    guard let randomAccessOffset else { return nil }
    return min(seiOffset ?? randomAccessOffset, randomAccessOffset)
  }
}

/// A NAL unit in a ``ScannedAccessUnit``.
public struct ScannedNALUnit: Sendable {
  /// Offset of its start code or length.
  public internal(set) var start: Int
  /// Header and payload.
  public internal(set) var range: Range<Int>
  /// The kind of NAL unit; nil if it is dropped, as ``ScannedAccessUnit/dropped`` lists.
  public internal(set) var contents: AccessUnitContents?
}
