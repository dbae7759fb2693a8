// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// What went wrong while a frame was decoded (`AVFrame.decode_error_flags`).
public struct FrameErrors: OptionSet, Hashable, Sendable {
  /// libavcodec's flags.
  public let rawValue: Int32
  /// Takes libavcodec's flags.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The bitstream made no sense (`FF_DECODE_ERROR_INVALID_BITSTREAM`).
  public static let invalidBitstream = FrameErrors(rawValue: FF_DECODE_ERROR_INVALID_BITSTREAM)
  /// A reference was not there (`FF_DECODE_ERROR_MISSING_REFERENCE`).
  public static let missingReference = FrameErrors(rawValue: FF_DECODE_ERROR_MISSING_REFERENCE)
  /// Macroblocks were concealed (`FF_DECODE_ERROR_CONCEALMENT_ACTIVE`).
  public static let concealment = FrameErrors(rawValue: FF_DECODE_ERROR_CONCEALMENT_ACTIVE)
  /// Not all slices decoded (`FF_DECODE_ERROR_DECODE_SLICES`). With frame threads up to libavcodec 61 this is set for
  /// intact pairs of fields, too, now and then.
  public static let slices = FrameErrors(rawValue: FF_DECODE_ERROR_DECODE_SLICES)
}
