// SPDX-License-Identifier: MPL-2.0

/// The parameter sets received so far, by id. Bounded for any stream.
public protocol ParameterSetStore: Sendable {
  /// The SPS that the store holds.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates an empty store.
  init()
  /// Takes a parameter set NAL unit. An unreadable one leaves the store as it was, unless nothing depends on it
  /// (H.265's VPS): see ``defect(of:)``.
  ///
  /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types.
  @discardableResult
  mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetChange
  /// The reason that a stored parameter set cannot be read; nil if it can.
  func defect(of nalUnit: Span<UInt8>) -> BitstreamError?
  /// Forgets everything.
  mutating func removeAll()
  /// The SPS with the id, nil if there is none.
  func sequenceParameterSet(_ id: SequenceParameterSetID) -> SequenceParameterSet?
  /// The id of an SPS NAL unit; nil if it cannot be read.
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
