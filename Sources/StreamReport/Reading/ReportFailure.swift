// SPDX-License-Identifier: MPL-2.0

/// Why there is nothing to report on.
public enum ReportFailure: Error, Sendable {
  /// The file has no bytes, or cannot be read.
  case empty
  /// It is neither a raw stream of H.264 or H.265 nor MP4.
  case unknownFormat
  /// It is MP4, and cannot be read.
  case mp4(MP4.ReadError)
  /// It is MP4 that arrives through a pipe: its tables may stand at the end.
  case needsSeeking
}
