// SPDX-License-Identifier: MPL-2.0
import H26x

/// The picture type in an access unit delimiter: `primary_pic_type` (H.264, Table 7-5) or `pic_type` (H.265, Table 7-2).
struct AnnouncedType: RawRepresentable, Sendable {
  var rawValue: UInt32

  /// Any slices; in H.265 it is reserved.
  static var any: Self { Self(rawValue: 7) }

  /// Whether the picture may be of this type: ASCII `I`, `P` or `B`, where SI counts as I, SP as P. Reserved values
  /// allow all.
  func allows(_ letter: UInt8, in codec: FormatDescription.Codec) -> Bool {
    switch (rawValue, letter) {
    case (0, 0x50), (0, 0x42), (1, 0x42): false
    case (3, 0x50), (3, 0x42), (4, 0x42), (5, 0x50), (5, 0x42), (6, 0x42): codec == .h265
    default: true
    }
  }
}
