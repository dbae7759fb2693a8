// SPDX-License-Identifier: MPL-2.0

/// A NAL unit in a ``ScannedAccessUnit``.
public struct ScannedNALUnit: Sendable {
  /// Where its start code or length begins.
  public internal(set) var start: Int
  /// Header and payload.
  public internal(set) var range: Range<Int>
  /// What it is; nil for those of no use, which ``ScannedAccessUnit/dropped`` lists.
  public internal(set) var contents: AccessUnitContents?
}

/// What a scanner found out about an access unit, or about a NAL unit when it cuts those.
///
/// Offsets are in bytes from the start of the unit.
public struct ScannedAccessUnit<SliceHeader: Sendable>: Sendable {
  /// What kinds of NAL units and slices are inside.
  public typealias Contents = AccessUnitContents
  /// A NAL unit inside.
  public typealias NALUnit = ScannedNALUnit

  /// What is inside.
  public var contents: Contents = []
  /// The NAL units in order, when ``AccessUnitScanning/listsNALUnits`` is set. From ``nalUnitLimit`` on, the last one
  /// covers the rest.
  public var nalUnits: [NALUnit] = []
  /// How many NAL units there are, those in ``dropped`` included.
  public var nalUnitCount = 0
  /// How many pictures begin in it: two where a packet holds both fields of a frame.
  public var pictureCount = 0
  /// Where the last NAL unit ends; zeros may follow it.
  public var end = 0
  /// Where the first SEI begins, with start code or length.
  public var seiOffset: Int?
  /// The SEI NAL units, ``seiLimit`` at most.
  public var seiNALUnits: [NALUnit] = []
  /// Where the first slice of a picture begins at which decoding may begin by its type, with start code or length.
  public var idrOffset: Int?
  /// The header of the first slice of the primary picture that could be read.
  public var slice: SliceHeader?
  /// Parts that are of no use, with start codes or lengths: NAL units cut off behind their header, or of types that
  /// only RTP has. In ascending order, and no two next to each other. From ``nalUnitLimit`` on, what is of no use stays.
  public var dropped: [Range<Int>] = []
  /// Whether start codes were found inside length-prefixed NAL units.
  public var holdsStartCodes = false

  /// SEI NAL units kept of one unit at most: a stream can hold millions, none of them worth the memory.
  public static var seiLimit: Int { 256 }

  /// NAL units listed of one unit at most: a picture of level 6.2 has 139,264 macroblocks, each of which may be a
  /// slice.
  public static var nalUnitLimit: Int { 150_000 }

  /// Creates an empty unit.
  public init() {}

  /// Memory of so many NAL units is kept for the next unit: more than most pictures have.
  private static var keptCapacity: Int { 256 }

  /// Makes it an empty unit again, with its memory kept where it is not much.
  mutating func removeAll() {
    var empty = ScannedAccessUnit()
    if nalUnits.capacity <= Self.keptCapacity {
      nalUnits.removeAll(keepingCapacity: true)
      swap(&empty.nalUnits, &nalUnits)
    }
    self = empty
  }

  /// Leaves out a part that lies behind everything so far.
  mutating func drop(_ range: Range<Int>) {
    if let last = dropped.last, last.lowerBound >= end {
      // Nothing of use in between: one part, however many NAL units it was.
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

  /// Where parameter sets go when they are put in: before the first slice of a random access point, and before an SEI
  /// in front of that. `nil` without such a slice.
  public var parameterSetOffset: Int? {
    guard let idrOffset else { return nil }
    return min(seiOffset ?? idrOffset, idrOffset)
  }
}
