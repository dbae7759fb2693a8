// SPDX-License-Identifier: MPL-2.0

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
