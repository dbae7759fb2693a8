// SPDX-License-Identifier: MPL-2.0

/// The role of a NAL unit at the border of access units.
public enum AccessUnitBoundary: Sendable, Hashable {
  /// It belongs to the access unit of the NAL unit before.
  case continues
  /// It begins an access unit.
  case begins
  /// It belongs to the next slice (H.264's prefix NAL unit). If the next NAL unit ``begins`` an access unit, that one
  /// begins here.
  case followsNext
}
