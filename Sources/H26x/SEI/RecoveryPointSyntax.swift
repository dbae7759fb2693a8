// SPDX-License-Identifier: MPL-2.0

/// `recovery_point()` SEI of a codec: when decoding starts here, a later picture and all after it are correct.
public protocol RecoveryPointSyntax: Sendable, Hashable {
  /// Reads a message of type ``SEIPayloadType/recoveryPoint``.
  ///
  /// - Throws: any ``BitstreamError``.
  init(_ message: borrowing SEIMessages.Message) throws(BitstreamError)
  /// How far behind this picture the first correct one is, in `frame_num` (H.264) or POC (H.265).
  var distance: Int { get }
  /// `exact_match_flag`: since the recovery point, pictures are the same as from a decoder that began earlier.
  var isExactMatch: Bool { get }
  /// `broken_link_flag`: pictures in front of the recovery point may be badly damaged.
  var isBrokenLink: Bool { get }
}
