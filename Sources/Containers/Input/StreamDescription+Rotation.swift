// SPDX-License-Identifier: MPL-2.0
package import AVFormat
package import StreamReport

extension StreamDescription {
  /// How pictures are turned to be upright, by the value of `videoflip`'s property `video-direction`: from the display
  /// matrix, nine numbers of 32 bits.
  package var rotation: String? {
    guard let matrix = sideData.first(where: { $0.kind == .displayMatrix })?.bytes, matrix.count >= 36 else {
      return nil
    }
    func number(_ index: Int) -> Int32 {
      matrix[index * 4..<index * 4 + 4].reversed().reduce(0) { $0 << 8 | Int32($1) }
    }
    let (a, b, c, d) = (number(0), number(1), number(3), number(4))
    if a == 0, d == 0 { return b > 0 && c < 0 ? "90r" : b < 0 && c > 0 ? "90l" : nil }
    return b == 0 && c == 0 && a < 0 && d < 0 ? "180" : nil
  }

  /// How pictures are turned, by the value of the tag image-orientation.
  package var rotationTag: String? {
    switch rotation {
    case "90r": "rotate-90"
    case "180": "rotate-180"
    case "90l": "rotate-270"
    default: nil
    }
  }

  /// The same for a track of MP4: the tag turns first and mirrors then. `nil` for upright pictures.
  package static func rotationTag(_ orientation: MP4.Orientation?) -> String? {
    guard let orientation else { return "unknown" }
    if orientation.isMirrored { return "flip-rotate-\((360 - orientation.rotation) % 360)" }
    return orientation.rotation == 0 ? nil : "rotate-\(orientation.rotation)"
  }
}
