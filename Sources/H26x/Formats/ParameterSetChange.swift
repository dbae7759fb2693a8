// SPDX-License-Identifier: MPL-2.0

/// The result of inserting a parameter set.
public enum ParameterSetChange: Sendable, Hashable {
  /// Nothing: the same bytes were stored already.
  case unchanged
  /// There was none with its id.
  case added
  /// It differs from the set before with its id.
  case replaced
}
