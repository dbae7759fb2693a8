// SPDX-License-Identifier: MPL-2.0

/// Something in a stream that may be of interest to the user.
public enum ScannerNotice<NALUnitType: NALUnitTypeSyntax>: Sendable {
  /// A parameter set that is new or changed.
  case parameterSet(NALUnitType, byteCount: Int, ParameterSetChange)
  /// A parameter set that cannot be read.
  case unreadableParameterSet(NALUnitType, byteCount: Int, BitstreamError)
  /// The first NAL unit of a type that only RTP has.
  case foreignType(NALUnitType)
  /// A length that points past the end of a packet, with the number of good bytes before it.
  case badLength(BitstreamError, goodBytes: Int, byteCount: Int)
  /// The stream begins with a random access point whose parameter sets come after it, in a byte stream only.
  case lateParameterSets
  /// The first start codes inside a length-prefixed NAL unit.
  case startCodes
}
