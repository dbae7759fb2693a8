// SPDX-License-Identifier: MPL-2.0

/// Names for people of the codes of Recommendation H.273 that are in use.
package enum ColourNames {
  /// Of `colour_primaries` (H.273 table 2); nil for other codes.
  package static func primaries(_ code: Int64) -> StaticString? {
    switch code {
    case 1: "BT.709"
    case 4: "BT.470 M"
    case 5: "BT.601 625"
    case 6: "BT.601 525"
    case 7: "SMPTE 240M"
    case 8: "film"
    case 9: "BT.2020"
    case 11: "DCI-P3"
    case 12: "Display P3"
    default: nil
    }
  }

  /// Of `transfer_characteristics` (H.273 table 3); nil for other codes.
  package static func transfer(_ code: Int64) -> StaticString? {
    switch code {
    case 1: "BT.709"
    case 4: "gamma 2.2"
    case 5: "gamma 2.8"
    case 6: "BT.601"
    case 7: "SMPTE 240M"
    case 8: "linear"
    case 13: "sRGB"
    case 14, 15: "BT.2020"
    case 16: "PQ"
    case 18: "HLG"
    default: nil
    }
  }

  /// Of `matrix_coeffs` (H.273 table 4); nil for other codes.
  package static func matrix(_ code: Int64) -> StaticString? {
    switch code {
    case 0: "RGB"
    case 1: "BT.709"
    case 5, 6: "BT.601"
    case 7: "SMPTE 240M"
    case 8: "YCgCo"
    case 9: "BT.2020"
    case 10: "BT.2020 constant luminance"
    default: nil
    }
  }
}
