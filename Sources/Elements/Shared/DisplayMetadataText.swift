// SPDX-License-Identifier: MPL-2.0
import H26x

extension MasteringDisplayColourVolume {
  /// The caps field `mastering-display-info`: red, green, blue, white, luminance.
  var capsText: String? {
    guard primaries.count == 3 else { return nil }
    // The SEI message has them in the order green, blue, red.
    let points = [primaries[2], primaries[0], primaries[1], whitePoint]
    let numbers = points.flatMap { [UInt32($0.x), UInt32($0.y)] } + [maximumLuminance, minimumLuminance]
    return numbers.map(String.init).joined(separator: ":")
  }
}

extension ContentLightLevel {
  /// The caps field `content-light-level`.
  var capsText: String { "\(maximum):\(maximumPictureAverage)" }
}
