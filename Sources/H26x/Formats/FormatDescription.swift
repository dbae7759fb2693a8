// SPDX-License-Identifier: MPL-2.0

/// The format of a video stream, as a decoder, a muxer or caps need it: the counterpart of
/// `CMVideoFormatDescription`.
///
/// Made from parameter sets or from a configuration record; codec-neutral.
public struct FormatDescription: Sendable, Hashable {
  /// The standard that the stream follows.
  public enum Codec: Sendable, Hashable {
    /// ITU-T H.264.
    case h264
    /// ITU-T H.265.
    case h265
  }

  /// The parameter sets as NAL units, each with its header and emulation prevention bytes.
  public struct ParameterSetBytes: Sendable, Hashable {
    /// VPS; none in H.264.
    public var video: [[UInt8]] = []
    /// SPS, the described one first.
    public var sequence: [[UInt8]] = []
    /// PPS.
    public var picture: [[UInt8]] = []
    /// H.264's SPS extensions (NAL unit type 13).
    public var sequenceExtensions: [[UInt8]] = []
    /// H.264's subset SPS (NAL unit type 15).
    public var subsets: [[UInt8]] = []

    /// Creates an empty set.
    public init() {}
  }

  /// The coded picture buffer that the stream was made for.
  public struct Buffering: Sendable, Hashable {
    /// In bits a second.
    public var bitRate: UInt64
    /// In bits.
    public var size: UInt64
    /// Whether the bit rate is constant.
    public var isConstantBitRate: Bool
  }

  /// The clock tick of the stream: `units / timeScale` seconds, a field in H.264, a picture in H.265.
  public struct Tick: Sendable, Hashable {
    /// `num_units_in_tick`, 1 or more.
    public var units: UInt32
    /// `time_scale`, 1 or more.
    public var timeScale: UInt32
    /// How many ticks a frame lasts: 2 in H.264 and if each picture is a field, else 1.
    public var perFrame: UInt32 = 2
  }

  /// The standard that the stream follows.
  public var codec: Codec
  /// Size of the coded picture (in H.264 always a frame) in luma samples.
  public var codedSize: VideoSize
  /// The part of it to show.
  public var cropRectangle: CropRectangle
  /// `profile_idc`.
  public var profileIDC: UInt8
  /// The constraint flags' byte; of H.265 the first of six.
  public var constraintFlags: UInt8
  /// The profile's name in caps, such as "constrained-baseline" or "high-4:2:2-intra"; nil if it has none.
  public var profileName: String?
  /// The names of other profiles whose decoders decode this stream, in order of preference.
  public var compatibleProfileNames: [String]
  /// `level_idc`.
  public var levelIDC: UInt8
  /// The level's name in caps, such as "4.1" or "1b"; nil if it has none.
  public var levelName: String?
  /// The tier's name in caps, "main" or "high"; nil in H.264, which has none.
  public var tierName: String?
  /// Chroma sampling.
  public var chromaFormat: ChromaFormat
  /// Bits of a luma sample.
  public var lumaBitDepth: Int
  /// Bits of a chroma sample.
  public var chromaBitDepth: Int
  /// Width to height of a sample; nil if unspecified.
  public var pixelAspectRatio: Ratio?
  /// Full range, rather than limited range; nil if the stream does not signal it.
  public var isFullRange: Bool?
  /// Primaries, transfer and matrix; nil if the stream does not signal it.
  public var colour: ColourDescription?
  /// Location of chroma samples in top fields and frames, 0 to 5; nil if the stream does not signal it.
  public var chromaSampleLocation: UInt8?
  /// Frames a second; nil if the stream does not signal it, or signals something absurd.
  public var frameRate: Ratio?
  /// The tick from which ``frameRate`` is derived, as sent, absurd or not; nil if it is not sent, or has a term of
  /// zero.
  public var tick: Tick?
  /// Frames a second that the level allows for this size (H.264 A.3.4).
  public var maximumFrameRate: Double
  /// Whether the profile has only intra pictures.
  public var isIntraOnly: Bool
  /// Whether fields and field macroblocks are allowed.
  public var isInterlacedAllowed: Bool
  /// Whether each picture is a single field: frames are twice as high as ``croppedSize``.
  public var isFieldSequence = false
  /// Whether picture timing SEI messages specify how pictures are displayed.
  public var isPictureStructurePresent: Bool
  /// Size of the decoded picture buffer in frames.
  public var decodedPictureBufferFrames: Int
  /// The reorder depth that the stream sends, in frames; nil if it sends none.
  public var sentReorderFrames: Int?
  /// The reorder depth in frames: as sent, or inferred from profile and level.
  public var maximumReorderFrames: Int
  /// The deepest reordering of any stream, in frames: no decoded picture buffer holds more (`MaxDpbFrames`, H.264 A.3.1;
  /// `MaxDpbSize`, H.265 A.4.2).
  @usableFromInline package static var deepestReordering: Int { 16 }
  /// The last (largest) coded picture buffer that the stream was made for; nil if the stream does not signal it.
  public var buffering: Buffering?
  /// The parameter sets.
  public var parameterSets: ParameterSetBytes
  /// Size of the stream's length prefixes; nil for start codes.
  public var nalLengthSize: NALLengthSize?

  /// Size of the picture to show.
  public var croppedSize: VideoSize { VideoSize(width: cropRectangle.width, height: cropRectangle.height) }

  /// Size of the frame to show: twice as high as the picture if each picture is a field.
  public var frameSize: VideoSize {
    VideoSize(width: cropRectangle.width, height: cropRectangle.height * (isFieldSequence ? 2 : 1))
  }

  /// Size of the frame to show on square pixels, rounded: ``frameSize``, its width scaled by ``pixelAspectRatio``;
  /// `CMVideoFormatDescriptionGetPresentationDimensions`.
  public var presentationSize: VideoSize {
    guard let ratio = pixelAspectRatio else { return frameSize }
    // The ratio has at most 31 bits.
    let scaled = UInt64(UInt32(clamping: frameSize.width)) * UInt64(ratio.numerator) + UInt64(ratio.denominator / 2)
    return VideoSize(width: max(1, Int(clamping: scaled / UInt64(ratio.denominator))), height: frameSize.height)
  }

  /// Whether both descriptions are of the same video for a decoder: equal except for parameter-set bytes, packaging,
  /// tick, and other profiles to which the stream conforms.
  public func describesSameVideo(as other: FormatDescription) -> Bool {
    var other = other
    other.parameterSets = parameterSets
    other.nalLengthSize = nalLengthSize
    other.tick = tick
    other.compatibleProfileNames = compatibleProfileNames
    return self == other
  }
}
