// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Errors met while a frame was decoded (`AVFrame.decode_error_flags`).
package struct FrameErrors: OptionSet, Hashable, Sendable {
  /// libavcodec's flags.
  package let rawValue: Int32
  /// Wraps libavcodec's flags.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The bitstream is invalid (`FF_DECODE_ERROR_INVALID_BITSTREAM`).
  package static let invalidBitstream = FrameErrors(rawValue: FF_DECODE_ERROR_INVALID_BITSTREAM)
  /// A reference is missing (`FF_DECODE_ERROR_MISSING_REFERENCE`).
  package static let missingReference = FrameErrors(rawValue: FF_DECODE_ERROR_MISSING_REFERENCE)
  /// Macroblocks were concealed (`FF_DECODE_ERROR_CONCEALMENT_ACTIVE`).
  package static let concealment = FrameErrors(rawValue: FF_DECODE_ERROR_CONCEALMENT_ACTIVE)
  /// Not all slices were decoded (`FF_DECODE_ERROR_DECODE_SLICES`). With frame threads, up to libavcodec 61, it is at
  /// times set for intact field pairs too.
  package static let slices = FrameErrors(rawValue: FF_DECODE_ERROR_DECODE_SLICES)
}
