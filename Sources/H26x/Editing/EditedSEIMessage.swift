// SPDX-License-Identifier: MPL-2.0

/// The result of editing an SEI message.
public enum EditedSEIMessage: Sendable, Hashable {
  /// It stays as it is.
  case unchanged
  /// It has another payload.
  case replaced([UInt8])
  /// It is gone.
  case removed
}
