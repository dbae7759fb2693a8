// SPDX-License-Identifier: MPL-2.0

/// What a report says of an access unit.
public struct AccessUnitRecord: Sendable {
  /// How decoding can begin at a picture.
  public enum Keyframe: UInt8, Sendable {
    /// It cannot.
    case none
    /// IDR picture.
    case idr
    /// CRA picture (H.265).
    case cra
    /// BLA picture (H.265).
    case bla
    /// Recovery point SEI.
    case recoveryPoint
    /// All slices are I slices, in a stream of H.264 that has shown no recovery point SEI so far: many encoders send
    /// such pictures to begin at and signal nothing.
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

  /// What the container says of it.
  public struct Sample: Sendable {
    /// When it is shown, in the track's timescale, the edit list left out.
    public var pts: Int64
    /// When it is decoded, in the track's timescale; nil where the container does not say, as Matroska.
    public var dts: Int64?
    /// How long it lasts, in the track's timescale.
    public var duration: UInt32
    /// Whether the file calls it a place to begin at.
    public var isSync: Bool

    /// What a container says.
    public init(pts: Int64, dts: Int64?, duration: UInt32, isSync: Bool) {
      (self.pts, self.dts, self.duration, self.isSync) = (pts, dts, duration, isSync)
    }
  }

  /// Its place in decoding order, counted from 0.
  public var index: UInt64 = 0
  /// Where it begins in the file, start code or length included.
  public var offset: UInt64 = 0
  /// Bytes up to the next one.
  public var size: UInt64 = 0
  /// What the container says.
  public var sample: Sample?
  /// How its picture is predicted: ASCII `I`, `P`, `B`; nil without a slice that can be read.
  public var letter: UInt8?
  /// How decoding can begin at it.
  public var keyframe = Keyframe.none
  /// Whether other pictures may refer to it.
  public var isReference = false
  /// Whether it is a field.
  public var isField = false
  /// Whether it is the second field of the frame before.
  public var isSecondField = false
  /// Times that picture order count began anew before it or at it.
  public var sequence: UInt64 = 0
  /// Picture order count of its first picture.
  public var pictureOrderCount: Int32?
  /// `SliceQPY` of its first slice.
  public var quantizationParameter: Int?
  /// Picture order counts of the pictures that its slices may refer to, in the order of the lists.
  public var references: [Int32] = []
  /// Pictures in the decoded picture buffer once it is decoded, itself included where it is kept.
  public var decodedPictures: Int?
  /// Bits in the coded picture buffer right before it is taken out.
  public var bufferFullness: Int64?
  /// Size of that buffer in bits.
  public var bufferSize: Int64?
  /// Its NAL units.
  public var nalUnits: [NALUnitRecord] = []
}
