// SPDX-License-Identifier: MPL-2.0

/// How many SEI messages of each type an edit has changed.
public struct SEIChanges: Sendable, Hashable {
  /// How many messages of a type.
  public struct Count: Sendable, Hashable {
    /// With another payload.
    public var changed = 0
    /// That are gone.
    public var removed = 0
    /// That were added.
    public var inserted = 0

    /// Creates a count of none.
    public init() {}
  }

  /// By type, of which at most 256 are distinguished.
  public private(set) var counts: [SEIPayloadType: Count] = [:]

  /// Whether none was changed.
  public var isEmpty: Bool { counts.isEmpty }

  init() {}

  mutating func count(_ type: SEIPayloadType, _ kind: (inout Count) -> Void) {
    guard counts.count < 256 || counts[type] != nil else { return }
    kind(&counts[type, default: Count()])
  }

  mutating func add(_ other: SEIChanges) {
    for (type, more) in other.counts {
      count(type) {
        $0.changed += more.changed
        $0.removed += more.removed
        $0.inserted += more.inserted
      }
    }
  }
}
