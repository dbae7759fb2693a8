// SPDX-License-Identifier: MPL-2.0

/// The result of editing a parameter set.
public enum EditedParameterSet: Sendable {
  /// It stays as it is.
  case unchanged
  /// It is replaced by a NAL unit, header and emulation prevention bytes included.
  case replaced([UInt8], changes: [FieldChange])
  /// It cannot be read, and stays as it is.
  case unreadable(BitstreamError)
}
