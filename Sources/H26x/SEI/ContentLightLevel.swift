// SPDX-License-Identifier: MPL-2.0

/// `content_light_level_info()` (D.1.31; H.265 D.2.35), in cd/m².
public struct ContentLightLevel: Sendable, Hashable {
  /// `max_content_light_level`.
  public var maximum: UInt16
  /// `max_pic_average_light_level`.
  public var maximumPictureAverage: UInt16

  /// Reads a message of type ``SEIPayloadType/contentLightLevel``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    maximum = UInt16(truncatingIfNeeded: try reader.u(16, "max_content_light_level"))
    maximumPictureAverage = UInt16(truncatingIfNeeded: try reader.u(16, "max_pic_average_light_level"))
  }
}
