// SPDX-License-Identifier: MPL-2.0

/// What the insertion of a parameter set did.
public enum ParameterSetChange: Sendable, Hashable {
  /// The same bytes were there already: nothing to do.
  case unchanged
  /// The id was free.
  case added
  /// Other bytes were there.
  case replaced
}

/// The parameter sets received so far, by id. Bounded, whatever the stream does.
public protocol ParameterSetStore: Sendable {
  /// What it holds.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates an empty store.
  init()
  /// Takes a parameter set NAL unit. One that cannot be read leaves the store as it was, unless nothing hangs on what
  /// it says (H.265's VPS): see ``defect(of:)``.
  ///
  /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types.
  @discardableResult
  mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetChange
  /// Why a parameter set that was taken cannot be read; nil when it can.
  func defect(of nalUnit: Span<UInt8>) -> BitstreamError?
  /// Forgets everything.
  mutating func removeAll()
  /// The SPS with the id, nil if there is none.
  func sequenceParameterSet(_ id: UInt8) -> SequenceParameterSet?
  /// The id of an SPS NAL unit; nil when it cannot be read that far.
  static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> UInt8?
  /// Whether a set of the same kind and id was read before.
  func holdsNamesake(of nalUnit: Span<UInt8>) -> Bool
  /// Whether there is no SPS.
  var isEmpty: Bool { get }
  /// Whether there is a PPS, whether or not its SPS is there.
  var hasPictureParameterSet: Bool { get }
  /// Whether a PPS is there whose SPS is there as well: slices can be read.
  var canReadSlices: Bool { get }
  /// All NAL units in the order in which a stream is to send them: VPS, SPS, SPS extensions, subset SPS, PPS.
  var nalUnits: [[UInt8]] { get }
}

/// A configuration record: the parameter sets out of band (ISO/IEC 14496-15).
public protocol ConfigurationRecordSyntax: Sendable, Hashable {
  /// Where it gets its parameter sets from.
  associatedtype ParameterSets: Sendable

  /// What it is called, for people: avcC, hvcC.
  static var name: String { get }
  /// The byte whose low two bits are `lengthSizeMinusOne`.
  static var lengthSizeOffset: Int { get }
  /// Reads a record.
  ///
  /// - Throws: `.truncated`, `.valueOutOfRange`, `.unsupported`.
  init(_ bytes: Span<UInt8>) throws(BitstreamError)
  /// Makes the record for all parameter sets of a store.
  ///
  /// - Throws: `.missingParameterSet` without an SPS, or what reading it throws.
  init(_ parameterSets: borrowing ParameterSets, nalLengthSize: NALLengthSize) throws(BitstreamError)
  /// The record's bytes.
  ///
  /// - Throws: `.lengthNotRepresentable`.
  func bytes() throws(BitstreamError) -> [UInt8]
  /// How long the lengths in front of NAL units are.
  var nalLengthSize: NALLengthSize { get set }
  /// All NAL units of the record in the order in which a stream is to send them.
  var nalUnits: [[UInt8]] { get }
  /// The record of a stream whose parameter sets are all in-band: none in here.
  var withoutParameterSets: Self { get }
  /// The same record with its parameter sets in the order in which a stream is to send them.
  var inOrder: Self { get }
}

extension ConfigurationRecordSyntax {
  /// What it is called where the codec has no word of its own.
  public static var name: String { "configuration record" }
}
