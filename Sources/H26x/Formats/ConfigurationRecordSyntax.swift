// SPDX-License-Identifier: MPL-2.0

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
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading it.
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
