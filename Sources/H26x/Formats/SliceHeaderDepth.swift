// SPDX-License-Identifier: MPL-2.0

/// How far a slice header is read.
public enum SliceHeaderDepth: Sendable {
  /// Up to the elements that distinguish pictures and order them.
  case pictureIdentity
  /// Up to reference marking, where H.264 may reset POC (MMCO 5).
  case referenceMarking
}
