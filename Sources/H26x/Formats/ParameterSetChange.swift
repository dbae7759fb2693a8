// SPDX-License-Identifier: MPL-2.0

/// What inserting a parameter set has changed.
public enum ParameterSetChange: Sendable, Hashable {
  /// Nothing: the same bytes were stored already.
  case unchanged
  /// There was none with its id.
  case added
  /// It differs from the one before with its id.
  case replaced
}
