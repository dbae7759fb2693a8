// SPDX-License-Identifier: MPL-2.0

/// The sample aspect ratios that have a code (H.264 table E-1, H.265 table E.1).
package enum SampleAspectRatios {
  /// The ratio of an `aspect_ratio_idc`; nil if it is unspecified, reserved or sent by itself.
  package static func ratio(_ idc: UInt8) -> Ratio? {
    let table: [(UInt32, UInt32)] = [
      (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
      (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]
    guard 1...16 ~= idc else { return nil }
    let (width, height) = table[Int(idc) - 1]
    return Ratio(width, height)
  }

  /// The `aspect_ratio_idc` of a ratio; nil if it has none.
  static func code(of ratio: Ratio) -> UInt8? { (1...16).first { self.ratio($0) == ratio } }
}
