// SPDX-License-Identifier: MPL-2.0

/// How to display a sequence, by its SEI messages.
package struct DisplayMetadata: Sendable, Hashable {
  /// The display that the sequence was mastered on.
  package var masteringDisplay: MasteringDisplayColourVolume?
  /// Its light levels.
  package var contentLight: ContentLightLevel?
  /// The transfer that should be used instead of the VUI's.
  package var alternativeTransfer: AlternativeTransferCharacteristics?

  /// Creates one without any of them.
  package init() {}

  /// Takes the messages of an SEI NAL unit. Unreadable messages are ignored.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - headerLength: bytes of the header: 1 in H.264, 2 in H.265.
  package mutating func read(_ nalUnit: Span<UInt8>, headerLength: Int = 1) {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        switch message.type {
        case .masteringDisplayColourVolume: masteringDisplay = try MasteringDisplayColourVolume(message)
        case .contentLightLevel: contentLight = try ContentLightLevel(message)
        case .alternativeTransferCharacteristics:
          alternativeTransfer = try AlternativeTransferCharacteristics(message)
        default: break
        }
      }
    } catch {
      // The messages before it were read.
    }
  }
}

/// `mastering_display_colour_volume()` (D.1.29; H.265 D.2.28).
public struct MasteringDisplayColourVolume: Sendable, Hashable {
  /// A point in CIE 1931 chromaticity, in units of 0.00002.
  public struct Chromaticity: Sendable, Hashable {
    /// x, in steps of 0.00002.
    public var x: UInt16
    /// y, in steps of 0.00002.
    public var y: UInt16
  }

  /// `display_primaries`, as sent: by convention green, blue, red.
  public var primaries: [Chromaticity]
  /// `white_point`.
  public var whitePoint: Chromaticity
  /// `max_display_mastering_luminance`, in 0.0001 cd/m².
  public var maximumLuminance: UInt32
  /// `min_display_mastering_luminance`, in 0.0001 cd/m².
  public var minimumLuminance: UInt32

  /// Reads a message of type ``SEIPayloadType/masteringDisplayColourVolume``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    primaries = []
    for _ in 0..<3 { primaries.append(try Self.chromaticity(&reader, "display_primaries")) }
    whitePoint = try Self.chromaticity(&reader, "white_point")
    maximumLuminance = try reader.u(32, "max_display_mastering_luminance")
    minimumLuminance = try reader.u(32, "min_display_mastering_luminance")
  }

  private static func chromaticity(
    _ reader: inout BitReader, _ element: StaticString
  ) throws(BitstreamError) -> Chromaticity {
    let x = try reader.u(16, element)
    return Chromaticity(
      x: UInt16(truncatingIfNeeded: x), y: UInt16(truncatingIfNeeded: try reader.u(16, element)))
  }
}

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

/// `alternative_transfer_characteristics()` (D.1.32): the transfer that should be used instead of the VUI's.
public struct AlternativeTransferCharacteristics: Sendable, Hashable {
  /// `preferred_transfer_characteristics`, a code point of H.273.
  public var preferredTransfer: UInt8

  /// Reads a message of type ``SEIPayloadType/alternativeTransferCharacteristics``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    preferredTransfer = try reader.byte("preferred_transfer_characteristics")
  }
}
