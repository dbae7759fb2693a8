// SPDX-License-Identifier: MPL-2.0

/// `display_orientation()` (D.1.27; H.265 D.2.17): how to turn the picture for display.
public struct DisplayOrientation: Sendable, Hashable {
  /// `hor_flip`.
  public var isFlippedHorizontally: Bool
  /// `ver_flip`.
  public var isFlippedVertically: Bool
  /// `anticlockwise_rotation`, in units of 360°/65536.
  public var anticlockwiseRotation: UInt16
  /// `display_orientation_repetition_period`, 0 to 16384; of H.265 its persistence flag.
  public var repetitionPeriod: UInt32

  /// Reads a message of type ``SEIPayloadType/displayOrientation``; nil if it cancels the message before.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - codec: the codec of the stream, on which the meaning of ``repetitionPeriod`` depends.
  /// - Throws: `.truncated`, `.valueOutOfRange`.
  public init?(
    _ message: borrowing SEIMessages.Message, codec: FormatDescription.Codec = .h264
  ) throws(BitstreamError) {
    var reader = message.reader
    if try reader.flag("display_orientation_cancel_flag") { return nil }
    isFlippedHorizontally = try reader.flag("hor_flip")
    isFlippedVertically = try reader.flag("ver_flip")
    anticlockwiseRotation = UInt16(truncatingIfNeeded: try reader.u(16, "anticlockwise_rotation"))
    repetitionPeriod =
      codec == .h265
      ? try reader.u(1, "display_orientation_persistence_flag")
      : try reader.ue(in: 0...16384, "display_orientation_repetition_period")
  }
}
