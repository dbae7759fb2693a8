// SPDX-License-Identifier: MPL-2.0

/// The position of `nal_unit_type` in a NAL unit header: all that repackaging needs of a codec.
struct NALUnitLayout: Sendable, Hashable {
  /// Bits of the first byte below the type.
  let typeShift: UInt8
  /// The bits of the type.
  let typeMask: UInt8
  /// The type of access unit delimiters.
  let accessUnitDelimiter: UInt8

  /// ITU-T H.264, 7.3.1.
  static var h264: NALUnitLayout { NALUnitLayout(typeShift: 0, typeMask: 0x1F, accessUnitDelimiter: 9) }
  /// ITU-T H.265, 7.3.1.2.
  static var h265: NALUnitLayout { NALUnitLayout(typeShift: 1, typeMask: 0x3F, accessUnitDelimiter: 35) }

  /// `nal_unit_type` of a NAL unit that begins with this byte.
  func type(_ byte: UInt8) -> UInt8 { byte >> typeShift & typeMask }
}

extension FormatDescription.Codec {
  var nalUnitLayout: NALUnitLayout {
    switch self {
    case .h264: .h264
    case .h265: .h265
    }
  }
}
