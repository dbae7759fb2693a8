// SPDX-License-Identifier: MPL-2.0
package import H26x

/// A codec that a session decodes.
package protocol DecodableCodec: ElementCodecSyntax {
  /// Walks over an access unit with an inspector of its stream.
  static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector
  ) -> AccessUnitDescription
}

extension H264: DecodableCodec {
  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector
  ) -> AccessUnitDescription {
    .h264(
      AccessUnitReading(
        inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking), inspector.parameterSets))
  }
}

extension H265: DecodableCodec {
  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector
  ) -> AccessUnitDescription {
    .h265(
      AccessUnitReading(
        inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking), inspector.parameterSets))
  }
}
