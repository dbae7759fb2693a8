// SPDX-License-Identifier: MPL-2.0

/// The picture type in an access unit delimiter: `primary_pic_type` (H.264, Table 7-5) or `pic_type` (H.265, Table
/// 7-2).
struct AnnouncedType: RawRepresentable, Sendable {
  var rawValue: UInt32

  /// Any slices; in H.265 it is reserved.
  static var any: Self { Self(rawValue: 7) }
}
