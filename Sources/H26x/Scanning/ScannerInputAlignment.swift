// SPDX-License-Identifier: MPL-2.0

/// What one buffer of a scanner's input holds.
public enum ScannerInputAlignment: Sendable, Hashable {
  /// Any bytes.
  case none
  /// Whole NAL units.
  case nalUnits
  /// One whole access unit.
  case accessUnit
}
