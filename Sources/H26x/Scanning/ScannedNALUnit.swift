// SPDX-License-Identifier: MPL-2.0

/// A NAL unit in a ``ScannedAccessUnit``.
public struct ScannedNALUnit: Sendable {
  /// Offset of its start code or length.
  public internal(set) var start: Int
  /// Header and payload.
  public internal(set) var range: Range<Int>
  /// The kind of NAL unit; nil if it is dropped, as ``ScannedAccessUnit/dropped`` lists.
  public internal(set) var contents: AccessUnitContents?
}
