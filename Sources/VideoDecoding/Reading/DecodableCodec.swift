// SPDX-License-Identifier: MPL-2.0
package import H26x

/// A codec that a session decodes.
package protocol DecodableCodec: ElementCodecSyntax {
  /// Walks over an access unit with an inspector of its stream, and has its SEI tracked.
  static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription
}

extension H264: DecodableCodec {
  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return .h264(
      AccessUnitReading(info, inspector.parameterSets, display.display, changesDisplay: changesDisplay))
  }
}

extension H265: DecodableCodec {
  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return .h265(
      AccessUnitReading(info, inspector.parameterSets, display.display, changesDisplay: changesDisplay))
  }
}
