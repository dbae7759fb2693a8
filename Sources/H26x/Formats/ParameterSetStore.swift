// SPDX-License-Identifier: MPL-2.0

/// What inserting a parameter set has changed.
public enum ParameterSetChange: Sendable, Hashable {
  /// Nothing: the same bytes were stored already.
  case unchanged
  /// There was none with its id.
  case added
  /// It differs from the one before with its id.
  case replaced
}

/// The parameter sets received so far, by id. Bounded, whatever the stream does.
public protocol ParameterSetStore: Sendable {
  /// What it holds.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates an empty store.
  init()
  /// Takes a parameter set NAL unit. An unreadable one leaves the store as it was, unless nothing depends on it
  /// (H.265's VPS): see ``defect(of:)``.
  ///
  /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types.
  @discardableResult
  mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetChange
  /// Why a stored parameter set cannot be read; nil when it can.
  func defect(of nalUnit: Span<UInt8>) -> BitstreamError?
  /// Forgets everything.
  mutating func removeAll()
  /// The SPS with the id, nil if there is none.
  func sequenceParameterSet(_ id: SequenceParameterSetID) -> SequenceParameterSet?
  /// The id of an SPS NAL unit; nil when it cannot be read.
  static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> SequenceParameterSetID?
  /// Whether a set of the same kind and id was read before.
  func holdsSet(withIDOf nalUnit: Span<UInt8>) -> Bool
  /// Whether there is no SPS.
  var isEmpty: Bool { get }
  /// Whether there is a PPS, with or without its SPS.
  var hasPictureParameterSet: Bool { get }
  /// Whether there is a PPS with its SPS: slices can be read.
  var canReadSlices: Bool { get }
  /// All NAL units in sending order: VPS, SPS, SPS extensions, subset SPS, PPS.
  var nalUnits: [[UInt8]] { get }
}

/// A configuration record: the parameter sets out of band (ISO/IEC 14496-15).
public protocol ConfigurationRecordSyntax: Sendable, Hashable {
  /// The store that it is made from.
  associatedtype ParameterSets: Sendable

  /// Its name for people: avcC, hvcC.
  static var name: String { get }
  /// The byte whose low two bits are `lengthSizeMinusOne`.
  static var lengthSizeOffset: Int { get }
  /// Reads a record.
  ///
  /// - Throws: `.truncated`, `.valueOutOfRange`, `.unsupported`.
  init(_ bytes: Span<UInt8>) throws(BitstreamError)
  /// Creates the record for all parameter sets of a store.
  ///
  /// - Throws: `.missingParameterSet` without an SPS, or what reading it throws.
  init(_ parameterSets: borrowing ParameterSets, nalLengthSize: NALLengthSize) throws(BitstreamError)
  /// The record's bytes.
  ///
  /// - Throws: `.lengthNotRepresentable`.
  func bytes() throws(BitstreamError) -> [UInt8]
  /// Size of the length prefixes.
  var nalLengthSize: NALLengthSize { get set }
  /// All NAL units of the record, in sending order.
  var nalUnits: [[UInt8]] { get }
  /// The record for a stream whose parameter sets are all in-band: this one without any.
  var withoutParameterSets: Self { get }
  /// The record with its parameter sets in sending order.
  var inOrder: Self { get }
}

extension ConfigurationRecordSyntax {
  /// A name for codecs without one.
  public static var name: String { "configuration record" }
}
