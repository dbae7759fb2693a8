// SPDX-License-Identifier: MPL-2.0

/// The contents of one buffer of a scanner's input.
public enum ScannerInputAlignment: Sendable, Hashable {
  /// Any bytes.
  case none
  /// Whole NAL units.
  case nalUnits
  /// One whole access unit.
  case accessUnit
}
