// SPDX-License-Identifier: MPL-2.0
public import Slices

/// An access unit in a report.
public struct AccessUnitRecord: Sendable {
  /// The container's timestamps and flag of an access unit.
  public struct Sample: Sendable {
    /// Presentation time in ticks of ``StreamRecord/timescale``, without the edit list.
    public var pts: Int64
    /// Decoding time in ticks; nil for a container without decoding times, such as Matroska.
    public var dts: Int64?
    /// Duration in ticks; 0 when it is not known.
    public var duration: UInt32
    /// Whether the container marks it as a sync sample; nil for a container without such marks, such as MPEG-TS.
    public var isSync: Bool?

    /// Creates a sample from its fields.
    public init(pts: Int64, dts: Int64?, duration: UInt32, isSync: Bool?) {
      (self.pts, self.dts, self.duration, self.isSync) = (pts, dts, duration, isSync)
    }
  }

  /// Its number in decoding order, from 0.
  public var index: UInt64 = 0
  /// The offset of its first byte in the file, start code or length prefix included.
  public var offset: UInt64 = 0
  /// Bytes from there to the next access unit.
  public var size: UInt64 = 0
  /// The container's timestamps; nil without a container, and if the container has none for it.
  public var sample: Sample?
  /// The findings about its picture.
  var picture = PictureRecord()
  /// Bits in the coded picture buffer just before it is removed (Annex C); nil if that is not known.
  public var bufferFullness: Int64?
  /// Size of that buffer in bits; nil if the fullness is.
  public var bufferSize: Int64?
  /// Its NAL units, 150,000 at most.
  public var nalUnits: [NALUnitRecord] = []
  /// Statistics of its slices, with ``ReportOptions/countedAccessUnits``.
  public internal(set) var statistics: PictureStatistics? {
    get { boxedStatistics?.value }
    set { boxedStatistics = newValue.map { StatisticsBox($0) } }
  }
  private var boxedStatistics: StatisticsBox?
  /// The blocks of its slices in decoding order, with ``ReportOptions/listsBlocks``.
  public internal(set) var blocks: [BlockRecord] = []
}

extension AccessUnitRecord {
  /// The picture's type: ASCII `I`, `P` or `B`; nil without a slice that can be read.
  public var letter: UInt8? { picture.letter }
  /// The kind of random access point that it is.
  public var keyframe: Keyframe { picture.keyframe }
  /// Whether other pictures may refer to it.
  public var isReference: Bool { picture.isReference }
  /// Whether it is a field.
  public var isField: Bool { picture.isField }
  /// Whether it is the second field of the frame before.
  public var isSecondField: Bool { picture.onlyCompletes }
  /// Whether it has both fields of a frame, as a sample of MP4 or Matroska may.
  public var isFieldPair: Bool { picture.isFieldPair }
  /// How many times picture order counts were reset, up to this access unit. Only counts of the same sequence compare.
  public var sequence: UInt64 { picture.sequence }
  /// The picture order count; nil without a slice that can be read.
  public var pictureOrderCount: Int32? { picture.order }
  /// `SliceQPY` of its first slice.
  public var quantizationParameter: Int? { picture.quantizationParameter }
  /// Picture order counts of the pictures that its slices may refer to, at most 32, each once.
  public var references: [Int32] { picture.references }
  /// Pictures in the decoded picture buffer after it is decoded, itself included if it is stored.
  public var decodedPictures: Int? { picture.decodedPictures }
}

extension AccessUnitRecord {
  /// The kinds of random access point.
  public enum Keyframe: UInt8, Sendable {
    /// No random access point.
    case none
    /// IDR picture.
    case idr
    /// CRA picture (H.265).
    case cra
    /// BLA picture (H.265).
    case bla
    /// A picture with a recovery point SEI message.
    case recoveryPoint
    /// All slices are I slices, in a stream of H.264 without recovery point SEI so far. Many encoders send such
    /// pictures to begin at and signal nothing.
    case intra

    var name: StaticString {
      switch self {
      case .none: "none"
      case .idr: "idr"
      case .cra: "cra"
      case .bla: "bla"
      case .recoveryPoint: "recovery"
      case .intra: "intra"
      }
    }
  }
}

/// A picture's part of its ``AccessUnitRecord``, whose properties document these. It grows with each slice.
struct PictureRecord: Sendable {
  var exists = false
  var letter: UInt8?
  var keyframe = AccessUnitRecord.Keyframe.none
  var isReference = false
  var isField = false
  var isSecondField = false
  /// Whether the first field is in the same access unit, as both of a frame are in a sample of MP4.
  var isFieldPair = false
  /// Whether the access unit only has the second field of the frame before.
  var onlyCompletes: Bool { isSecondField && !isFieldPair }
  var sequence: UInt64 = 0
  var order: Int32?
  var quantizationParameter: Int?
  var references: [Int32] = []
  var decodedPictures: Int?

  /// Adds a slice: a picture with a B slice is B, else one with a P slice is P.
  mutating func add(_ slice: UInt8) {
    switch (letter, slice) {
    case (nil, _), (0x49, _), (_, 0x42): letter = slice
    default: break
    }
  }

  /// Adds POCs of pictures that a slice may refer to; each is listed once, 32 at most.
  mutating func add(reference order: Int32) {
    if references.count < 32, !references.contains(order) { references.append(order) }
  }
}
