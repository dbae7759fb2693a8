// SPDX-License-Identifier: MPL-2.0

/// An inspector that also describes the stream's format, by the SPS of each access unit's first slice.
package protocol FormatTracking: AccessUnitInspecting {
  /// Creates an inspector without parameter sets.
  ///
  /// - Parameter nalLengthSize: size of the stream's length prefixes; nil for start codes.
  init(nalLengthSize: NALLengthSize?)
  /// The format of the last access unit; nil until a slice came with its parameter sets.
  var format: FormatDescription? { get }
  /// Whether the active SPS has a VUI, whose absent fields have inferred values (H.264 E.2.1, H.265 E.3.1).
  var hasVUI: Bool { get }
}

extension AccessUnitInfo where Codec: ElementCodecSyntax {
  /// How the picture was scanned, as far as its coding shows; nil if its first slice cannot be read.
  ///
  /// - Parameter parameterSets: those up to the access unit.
  package func scan(_ parameterSets: borrowing Codec.ParameterSets) -> PictureScan? {
    guard let slice, let sps = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else { return nil }
    return Codec.scan(slice, sps: sps)
  }
}
