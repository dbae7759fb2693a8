// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// What went wrong while a frame was decoded (`AVFrame.decode_error_flags`).
package struct FrameErrors: OptionSet, Hashable, Sendable {
  /// libavcodec's flags.
  package let rawValue: Int32
  /// Takes libavcodec's flags.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The bitstream made no sense (`FF_DECODE_ERROR_INVALID_BITSTREAM`).
  package static let invalidBitstream = FrameErrors(rawValue: FF_DECODE_ERROR_INVALID_BITSTREAM)
  /// A reference was not there (`FF_DECODE_ERROR_MISSING_REFERENCE`).
  package static let missingReference = FrameErrors(rawValue: FF_DECODE_ERROR_MISSING_REFERENCE)
  /// Macroblocks were concealed (`FF_DECODE_ERROR_CONCEALMENT_ACTIVE`).
  package static let concealment = FrameErrors(rawValue: FF_DECODE_ERROR_CONCEALMENT_ACTIVE)
  /// Not all slices decoded (`FF_DECODE_ERROR_DECODE_SLICES`). With frame threads up to libavcodec 61 this is set for
  /// intact pairs of fields, too, now and then.
  package static let slices = FrameErrors(rawValue: FF_DECODE_ERROR_DECODE_SLICES)
}
