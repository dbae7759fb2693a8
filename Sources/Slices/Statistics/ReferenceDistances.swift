// SPDX-License-Identifier: MPL-2.0

/// Areas by the distance of the picture that they refer to, in picture order count: negative for a picture that is shown
/// earlier. A frame counts 2 in most streams of H.264, and 1 in most streams of H.265.
public struct ReferenceDistances: Sendable {
  /// An area that refers to pictures at the same distance.
  public struct Entry: Sendable, Hashable {
    /// The picture order count of the picture less that of the referring picture, -128 to 128. Longer distances count
    /// as these.
    public var distance: Int32
    /// The area in luma samples.
    public var area: UInt64
  }

  /// The areas that are not 0, in ascending order of distance.
  public private(set) var entries: [Entry] = []

  /// Creates an empty list.
  public init() {}

  mutating func add(_ area: UInt64, at distance: Int32) {
    guard area > 0 else { return }
    let limited = max(-Self.limit, min(Self.limit, distance))
    var place = 0
    while place < entries.count, entries[place].distance < limited { place += 1 }
    if place < entries.count, entries[place].distance == limited {
      entries[place].area &+= area
    } else {
      entries.insert(Entry(distance: limited, area: area), at: place)
    }
  }

  mutating func add(_ other: ReferenceDistances) { for entry in other.entries { add(entry.area, at: entry.distance) } }

  private static var limit: Int32 { 128 }
}

/// The pictures in the reference picture lists of a slice.
public struct SliceReferences: Sendable {
  /// The distance of each picture of list 0, as in ``ReferenceDistances``; nil for a picture that is missing.
  public var list0: [Int32?]
  /// The distance of each picture of list 1.
  public var list1: [Int32?]
  /// Whether the lists have frames, which each have two indices in field macroblocks (H.264, 8.4.2.1).
  public var areFrames: Bool

  /// Creates the references of a slice.
  public init(list0: [Int32?] = [], list1: [Int32?] = [], areFrames: Bool = true) {
    (self.list0, self.list1, self.areFrames) = (list0, list1, areFrames)
  }
}
