// SPDX-License-Identifier: MPL-2.0
package import H26x

/// What one walk over an access unit has found, and the parameter sets up to it: all that an element and a session read
/// of it.
package indirect enum AccessUnitDescription: Sendable {
  /// Of an H.264 stream.
  case h264(H264.AccessUnitInfo, H264.ParameterSets)
  /// Of an H.265 stream.
  case h265(H265.AccessUnitInfo, H265.ParameterSets)

  /// Whether there is a slice, readable or not.
  package var hasSlice: Bool {
    switch self {
    case .h264(let info, _): info.sliceType != nil
    case .h265(let info, _): info.sliceType != nil
    }
  }
  /// Whether the first slice is of an IDR picture.
  package var isIDR: Bool {
    switch self {
    case .h264(let info, _): info.sliceType?.isIDR ?? false
    case .h265(let info, _): info.sliceType?.isIDR ?? false
    }
  }
  /// Whether the stream's format differs from that of the access unit before, where the inspector follows it.
  package var formatChanged: Bool {
    switch self {
    case .h264(let info, _): info.formatChanged
    case .h265(let info, _): info.formatChanged
    }
  }
  /// How the picture was scanned, as far as its coding shows; nil when its first slice cannot be read.
  package var scan: PictureScan? {
    switch self {
    case .h264(let info, let sets): info.scan(sets)
    case .h265(let info, let sets): info.scan(sets)
    }
  }

  /// Lets a tracker of display metadata take the access unit's SEI messages. Returns whether they have changed any.
  package func update(_ display: inout DisplayTracker, _ accessUnit: Span<UInt8>) -> Bool {
    switch self {
    case .h264(let info, _): display.take(accessUnit, info)
    case .h265(let info, _): display.take(accessUnit, info)
    }
  }
}

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
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    return .h264(info, inspector.parameterSets)
  }
}

extension H265: DecodableCodec {
  /// Walks over an access unit.
  package static func describe(
    _ accessUnit: Span<UInt8>, packaging: NALPackaging, with inspector: inout Inspector
  ) -> AccessUnitDescription {
    let info = inspector.inspect(accessUnit, packaging: packaging, depth: .referenceMarking)
    return .h265(info, inspector.parameterSets)
  }
}
