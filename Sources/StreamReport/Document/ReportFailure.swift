// SPDX-License-Identifier: MPL-2.0

/// The reason that no report of a file is possible.
public enum ReportFailure: Error, Sendable {
  /// The file has no bytes, or cannot be read.
  case empty
  /// It is neither an H.264 or H.265 byte stream nor MP4.
  case unknownFormat
  /// It is an MP4 file whose boxes cannot be read.
  case mp4(MP4.ReadError)
  /// It is MP4 from a pipe, which cannot be read because its `moov` box may be at the end.
  case needsSeeking
}
