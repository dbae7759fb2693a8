// SPDX-License-Identifier: MPL-2.0
package import H26x

/// A codec that a session decodes.
package protocol DecodableCodec: ElementCodecSyntax {
  /// Whether two fields make one decoded picture; else each field is a picture of its own.
  static var pairsFields: Bool { get }
  /// Walks over an access unit with an inspector of its stream, and has its SEI tracked.
  static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription
}

extension H264: DecodableCodec {
  package static var pairsFields: Bool { true }

  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return AccessUnitDescription(
      .h264(AccessUnitReading(info, inspector.parameterSets)), info, display.display, changesDisplay: changesDisplay)
  }
}

extension H265: DecodableCodec {
  package static var pairsFields: Bool { false }

  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector, _ display: inout DisplayTracker
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    let changesDisplay = display.take(accessUnit, info)
    return AccessUnitDescription(
      .h265(AccessUnitReading(info, inspector.parameterSets)), info, display.display, changesDisplay: changesDisplay)
  }
}
