// SPDX-License-Identifier: MPL-2.0
public import H26x

/// What a report consists of, in this order: the stream, then access units, each behind the parameter sets that are new
/// with it and before what was found in it, and the summary.
public enum ReportItem: Sendable {
  /// What kind of stream it is. Comes first.
  case stream(StreamRecord)
  /// A parameter set that is new, or not what it was.
  case parameterSet(ParameterSetRecord)
  /// An access unit.
  case accessUnit(AccessUnitRecord)
  /// Something that is not as it should be, or worth knowing.
  case finding(Finding)
  /// What it comes to. Comes last.
  case summary(SummaryRecord)
}

/// What kind of stream it is.
public struct StreamRecord: Sendable {
  /// What the stream stands in.
  public enum Container: UInt8, Sendable {
    /// Nothing: start codes alone.
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
    /// Something else.
    case other

    /// What the document calls it.
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
  /// What the stream stands in.
  public var container: Container
  /// Bytes of the file; nil when they are not known, as of a pipe.
  public var size: UInt64?
  /// Ticks a second of timestamps; nil without a container.
  public var timescale: UInt32?
  /// `track_ID` in the container.
  public var track: UInt32?
  /// The four characters that name the coding in the container.
  public var coding: FourCharacterCode?
  /// How far the container has the picture turned, in degrees.
  public var rotation: Int?
  /// Bytes of NAL lengths.
  public var lengthSize: Int?
}

/// A parameter set and its syntax elements.
public struct ParameterSetRecord: Sendable {
  /// The access unit that it comes with; 0 for one from the container.
  public var accessUnit: UInt64 = 0
  /// Whether it comes from the container's configuration record.
  public var isOutOfBand = false
  /// Whether one of the same type and id came before.
  public var isReplacement = false
  /// The NAL unit, with fields and all bytes.
  public var nalUnit = NALUnitRecord()
  /// Of an SPS: what it comes to.
  public var format: FormatRecord?
}

/// What an SPS comes to.
public struct FormatRecord: Sendable {
  /// Luma samples to show, in a row.
  public var width = 0
  /// Rows of luma samples to show.
  public var height = 0
  /// Luma samples coded, in a row.
  public var codedWidth = 0
  /// Rows of luma samples coded.
  public var codedHeight = 0
  /// The profile's name; nil for one that has none.
  public var profile: String?
  /// The level's name; nil for one that has none.
  public var level: String?
  /// "main" or "high" in H.265.
  public var tier: String?
  /// Chroma format, as `chroma_format_idc`.
  public var chromaFormat: UInt8 = 1
  /// Bits a luma sample.
  public var bitDepth = 8
  /// Colour primaries, transfer characteristics and matrix by the VUI; nil where it does not say.
  public var colour: ColourDescription?
  /// Frames a second by the stream itself.
  public var frameRate: Fraction?
  /// The most bits a second by the level; nil for a level that is none.
  public var maximumBitRate: UInt64?
  /// Frames that the decoded picture buffer holds.
  public var decodedPictureBuffer = 0
  /// Frames that may be out of order.
  public var reorder = 0
}

/// What a stream comes to.
public struct SummaryRecord: Sendable {
  /// Access units.
  public var accessUnits: UInt64 = 0
  /// Pictures whose every slice is I.
  public var intra: UInt64 = 0
  /// Pictures with P slices and without B slices.
  public var predicted: UInt64 = 0
  /// Pictures with B slices.
  public var bidirectional: UInt64 = 0
  /// Access units at which decoding can begin.
  public var keyframes: UInt64 = 0
  /// Bytes of access units.
  public var bytes: UInt64 = 0
  /// NAL units by type, 64 types.
  public var nalUnits: [UInt64] = .init(repeating: 0, count: 64)
  /// Bytes of NAL units by type, 64 types.
  public var nalUnitBytes: [UInt64] = .init(repeating: 0, count: 64)
  /// The names of those types.
  public var names: [StaticString] = []
  /// Frames that were really out of order at most.
  public var reorder = 0
  /// How often each rule was broken, those included that were not listed.
  public var findings: [UInt64] = .init(repeating: 0, count: Rule.allCases.count)

  /// How many findings there are of a severity.
  public func count(of severity: Finding.Severity) -> UInt64 {
    var sum: UInt64 = 0
    for rule in Rule.allCases where rule.severity == severity { sum += findings[rule.rawValue] }
    return sum
  }
}
