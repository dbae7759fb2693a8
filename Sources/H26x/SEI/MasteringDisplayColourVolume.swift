// SPDX-License-Identifier: MPL-2.0

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
