// SPDX-License-Identifier: MPL-2.0
public import H26x

/// An item of a report. They come in this order: the stream; access units, each after the parameter sets that are new
/// in it and before its findings; the summary.
public enum ReportItem: Sendable {
  /// The stream. Comes first.
  case stream(StreamRecord)
  /// A parameter set that is new, or has other content than the one before of its type and id.
  case parameterSet(ParameterSetRecord)
  /// An access unit.
  case accessUnit(AccessUnitRecord)
  /// A broken rule.
  case finding(Finding)
  /// The summary. Comes last.
  case summary(SummaryRecord)
}

/// The stream of a report.
public struct StreamRecord: Sendable {
  /// The containers.
  public enum Container: UInt8, Sendable {
    /// None: an Annex B byte stream.
    case annexB
    /// MP4 or MOV.
    case mp4
    /// Matroska or WebM.
    case matroska
    /// MPEG-TS.
    case mpegTS
    /// FLV.
    case flv
    /// AVI.
    case avi
    /// Another container.
    case other

    /// Its name in the document, such as `mpegts`.
    public var name: StaticString {
      switch self {
      case .annexB: "annexb"
      case .mp4: "mp4"
      case .matroska: "matroska"
      case .mpegTS: "mpegts"
      case .flv: "flv"
      case .avi: "avi"
      case .other: "other"
      }
    }
  }

  /// H.264 or H.265.
  public var codec: FormatDescription.Codec
  /// The container of the stream.
  public var container: Container
  /// Bytes of the file; nil when that is not known, as of a pipe.
  public var size: UInt64?
  /// Ticks a second of timestamps; nil for a byte stream.
  public var timescale: UInt32?
  /// `track_ID` in MP4.
  public var track: UInt32?
  /// The sample entry type in MP4, such as `avc1`.
  public var coding: FourCharacterCode?
  /// The clockwise rotation by the MP4 track header: 0, 90, 180 or 270 degrees; nil for another matrix.
  public var rotation: Int?
  /// Bytes of the length prefixes of NAL units; nil for start codes.
  public var lengthSize: Int?
}

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
  /// Colour primaries, transfer characteristics and matrix of the VUI; nil where it has none.
  public var colour: ColourDescription?
  /// `video_full_range_flag` of the VUI; nil where it has none.
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

/// Totals of a stream.
public struct SummaryRecord: Sendable {
  /// Access units.
  public var accessUnits: UInt64 = 0
  /// Pictures whose every slice is I.
  public var intra: UInt64 = 0
  /// Pictures with P slices and without B slices.
  public var predicted: UInt64 = 0
  /// Pictures with B slices.
  public var bidirectional: UInt64 = 0
  /// Random access points.
  public var keyframes: UInt64 = 0
  /// Bytes of access units.
  public var bytes: UInt64 = 0
  /// NAL units by type, 64 types.
  public var nalUnits: [UInt64] = .init(repeating: 0, count: 64)
  /// Bytes of NAL units by type, 64 types.
  public var nalUnitBytes: [UInt64] = .init(repeating: 0, count: 64)
  /// The names of the types.
  public var names: [StaticString] = []
  /// The reorder depth that the stream uses: the most frames that precede one in decoding order and follow it in output
  /// order.
  public var reorder = 0
  /// The number of findings of each rule, by `Rule.rawValue`, including those that are not listed.
  public var findings: [UInt64] = .init(repeating: 0, count: Rule.allCases.count)

  /// Counts an access unit, but not its NAL units.
  mutating func add(_ accessUnit: AccessUnitRecord) {
    accessUnits += 1
    bytes += accessUnit.size
    switch accessUnit.letter {
    case 0x49: intra += 1
    case 0x50: predicted += 1
    case 0x42: bidirectional += 1
    default: break
    }
    if accessUnit.keyframe != .none { keyframes += 1 }
  }

  /// The number of findings of a severity, including those that are not listed.
  public func count(of severity: Finding.Severity) -> UInt64 {
    var sum: UInt64 = 0
    for rule in Rule.allCases where rule.severity == severity { sum += findings[rule.rawValue] }
    return sum
  }
}
