// SPDX-License-Identifier: MPL-2.0

/// How the blocks of a slice may be predicted.
public enum SlicePrediction: Sendable, Hashable {
  /// I and SI slices.
  case intra
  /// P and SP slices.
  case forward
  /// B slices.
  case bidirectional
}
