// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A parameter set and its syntax elements.
public struct ParameterSetRecord: Sendable {
  /// The number of the access unit that it is in; for one from the container, of the first that it holds for.
  public var accessUnit: UInt64 = 0
  /// Whether it comes from the container's configuration record.
  public var isOutOfBand = false
  /// Whether it replaces one of the same type and id.
  public var isReplacement = false
  /// The NAL unit, with fields and all bytes.
  public var nalUnit = NALUnitRecord()
  /// The format by an SPS; nil for another parameter set.
  public var format: FormatRecord?
}

/// The format of pictures by an SPS.
public struct FormatRecord: Sendable {
  /// Width of the cropped picture in luma samples.
  public var width = 0
  /// Height of the cropped picture in luma samples.
  public var height = 0
  /// Coded width in luma samples.
  public var codedWidth = 0
  /// Coded height in luma samples.
  public var codedHeight = 0
  /// The profile's name as in caps; nil for an unknown profile.
  public var profile: String?
  /// The level's name as in caps; nil for an unknown level.
  public var level: String?
  /// `main` or `high` in H.265; nil in H.264.
  public var tier: String?
  /// Chroma format, as `chroma_format_idc`.
  public var chromaFormat: UInt8 = 1
  /// Luma bit depth.
  public var bitDepth = 8
  /// Colour primaries, transfer characteristics and matrix of the VUI; nil if it has none.
  public var colour: ColourDescription?
  /// `video_full_range_flag` of the VUI; nil if it has none.
  var isFullRange: Bool?
  /// Whether each picture is a field of a frame that is twice as high (`field_seq_flag` of H.265).
  var isFieldSequence = false
  /// Frames a second by the VUI; nil without timing.
  public var frameRate: Ratio?
  /// The highest bit rate of the level in bits a second (VCL HRD); nil for an unknown level.
  public var maximumBitRate: UInt64?
  /// Size of the decoded picture buffer in frames (H.265: pictures).
  public var decodedPictureBuffer = 0
  /// Frames (H.265: pictures) that may precede one in decoding order and follow it in output order.
  public var reorder = 0
}
