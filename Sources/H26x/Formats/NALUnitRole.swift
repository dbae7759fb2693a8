// SPDX-License-Identifier: MPL-2.0

/// The role of a NAL unit in its access unit.
public enum NALUnitRole: Sendable, Hashable {
  /// A slice of the base picture whose header can be read.
  case slice
  /// Another part of the base picture: a data partition, an auxiliary picture, a reserved VCL type.
  case slicePart
  /// A slice of a layer or view above the base.
  case layerSlice
  /// VPS.
  case videoParameterSet
  /// SPS.
  case sequenceParameterSet
  /// SPS extension or subset SPS.
  case sequenceParameterSetExtension
  /// PPS.
  case pictureParameterSet
  /// SEI; in H.265 prefix SEI.
  case sei
  /// Suffix SEI.
  case suffixSEI
  /// Access unit delimiter.
  case accessUnitDelimiter
  /// End of sequence, stream or bitstream.
  case end
  /// Filler data.
  case filler
  /// Of a type that only RTP has.
  case outsideStandard
  /// Anything else.
  case other

  /// Whether it is a parameter set of any kind.
  @inlinable package var isParameterSet: Bool {
    switch self {
    case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension, .pictureParameterSet: true
    default: false
    }
  }
}
