// SPDX-License-Identifier: MPL-2.0

/// How far a slice header is read.
public enum SliceHeaderDepth: Sendable {
  /// Up to what distinguishes pictures and orders them.
  case pictureIdentity
  /// Up to reference marking, where H.264 may reset POC (MMCO 5).
  case referenceMarking
}
