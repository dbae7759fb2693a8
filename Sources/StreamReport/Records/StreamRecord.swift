// SPDX-License-Identifier: MPL-2.0
public import H26x

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
  /// Bytes of the file; nil if that is not known, as of a pipe.
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
