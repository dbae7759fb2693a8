// SPDX-License-Identifier: MPL-2.0

/// `nal_unit_type` of a codec: an open set of numbers, including reserved numbers.
public protocol NALUnitTypeSyntax: RawRepresentable, Sendable, Hashable where RawValue == UInt8 {
  /// Creates a type from its number, of which high bits are ignored.
  init(rawValue: UInt8)
  /// Creates a type from the first byte of a NAL unit.
  init(headerByte: UInt8)

  /// SEI; in H.265 prefix SEI.
  static var sei: Self { get }
  /// SPS.
  static var sequenceParameterSet: Self { get }
  /// PPS.
  static var pictureParameterSet: Self { get }
  /// Access unit delimiter.
  static var accessUnitDelimiter: Self { get }
  /// End of sequence.
  static var endOfSequence: Self { get }
  /// End of stream (H.265: of the bitstream).
  static var endOfStream: Self { get }
  /// Filler data.
  static var fillerData: Self { get }
  /// Metadata of Dolby Vision (RPU).
  static var dolbyVisionRPU: Self { get }
  /// A NAL unit of Dolby Vision's enhancement layer.
  static var dolbyVisionEnhancementLayer: Self { get }

  /// Whether this is a VCL NAL unit, in H.264 of the base view or layer.
  var isVCL: Bool { get }
  /// Whether it holds SEI messages.
  var isSEI: Bool { get }
  /// Whether it is a parameter set for ``ParameterSetStore``.
  var isParameterSet: Bool { get }
  /// Whether it is a slice of an IDR picture.
  var isIDR: Bool { get }
  /// Whether its type marks a random access point: IDR, in H.265 every IRAP picture.
  var isRandomAccessPoint: Bool { get }
  /// Whether it is a slice of a leading picture that cannot be decoded when decoding begins at the random access point
  /// before it (H.265's RASL).
  var isSkippedLeading: Bool { get }
  /// Whether the type exists in RTP packets only, never in an elementary stream.
  var isRTPOnly: Bool { get }
  /// Whether a NAL unit of such a type, though it is dropped, ends the access unit before it.
  var endsAccessUnitWhenDropped: Bool { get }
  /// The type's name for people.
  var name: String { get }
}

/// A set of NAL unit types, 0 to 63: H.264's five bits and H.265's six.
public struct NALUnitTypeSet: Sendable, Hashable {
  private var bits: UInt64 = 0

  /// Creates a set.
  public init(_ types: some Sequence<UInt8> = []) {
    for type in types where type < 64 { bits |= 1 << UInt64(type) }
  }

  /// Creates a set of a codec's types.
  public init<NALUnitType: NALUnitTypeSyntax>(_ types: [NALUnitType]) {
    for type in types { insert(type.rawValue) }
  }

  /// Whether the set is empty.
  public var isEmpty: Bool { bits == 0 }

  /// Whether the set has the type.
  public func contains(_ type: UInt8) -> Bool { type < 64 && bits & (1 << UInt64(type)) != 0 }

  /// Adds a type.
  public mutating func insert(_ type: UInt8) {
    if type < 64 { bits |= 1 << UInt64(type) }
  }

  /// The types of both sets.
  public func union(_ other: NALUnitTypeSet) -> NALUnitTypeSet {
    var result = self
    result.bits |= other.bits
    return result
  }
}
