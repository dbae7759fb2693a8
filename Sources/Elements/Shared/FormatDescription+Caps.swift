// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Caps fields of a format description, for the parser's and the decoder's caps.
extension FormatDescription {
  /// The caps field `colorimetry`; nil when the stream has neither range nor colors.
  ///
  /// The range is given even where primaries, transfer and matrix are unspecified (2): without the field, converters
  /// would assume full range.
  ///
  /// - Parameter transfer: the H.273 code point that an SEI message prefers to the stream's.
  func colorimetry(preferringTransfer transfer: UInt8? = nil) -> String? {
    guard let isFullRange else { return nil }
    return colorimetryName(
      isFullRange: isFullRange, primaries: colour?.primaries ?? 2, transfer: transfer ?? colour?.transfer ?? 2,
      matrix: colour?.matrix ?? 2)
  }

  /// The caps field `pixel-aspect-ratio`; nil when the stream does not signal it.
  ///
  /// Some encoders of field sequences send 1:2, for decoders that show each field as a picture. It is taken for 1:1
  /// where frames with square samples are 4:3 or 16:9.
  var pixelAspectRatioOfCaps: Fraction? {
    guard let ratio = pixelAspectRatio.map({ Fraction($0) }) else { return nil }
    return isFieldSequence && ratio == Fraction(1, 2) && hasUsualShape ? Fraction(1, 1) : ratio
  }

  /// Whether frames are 4:3 or 16:9 with square samples, to a percent.
  private var hasUsualShape: Bool {
    let (width, height) = (frameSize.width, frameSize.height)
    return [(4, 3), (16, 9)].contains { abs(width * $0.1 - height * $0.0) * 100 <= width * $0.1 }
  }

  /// The caps field `framerate`; nil when the stream does not signal it, and when it is more than twice what the level
  /// allows: `num_units_in_tick` and `time_scale` then do not measure time.
  var frameRateOfCaps: Fraction? {
    guard let frameRate, !isFrameRateBeyondLevel else { return nil }
    return Fraction(frameRate)
  }

  /// Whether the frame rate is more than twice what the level allows for the picture size.
  var isFrameRateBeyondLevel: Bool {
    guard let frameRate, frameRate.denominator > 0 else { return false }
    return Double(frameRate.numerator) / Double(frameRate.denominator) > 2 * maximumFrameRate
  }

  /// The caps field `coded-picture-structure`; nil in H.265, which codes fields as pictures of their own.
  private var codedPictureStructure: String? { codec == .h264 ? isInterlacedAllowed ? "field" : "frame" : nil }

  /// Sets the fields that describe the coding, whatever upstream's caps contain.
  func setCodingFields(of caps: inout Caps) {
    if let codedPictureStructure { caps.set("coded-picture-structure", .string(codedPictureStructure)) }
    caps.set("chroma-format", .string(chromaFormat.name))
    caps.set("bit-depth-luma", .uint(UInt32(clamping: lumaBitDepth)))
    caps.set("bit-depth-chroma", .uint(chromaFormat == .monochrome ? 0 : UInt32(clamping: chromaBitDepth)))
    if let tierName { caps.set("tier", .string(tierName)) }
    if let levelName { caps.set("level", .string(levelName)) }
    if let profileName { caps.set("profile", .string(profileName)) }
  }
}

extension Fraction {
  /// The same ratio for caps, each part at most 2³¹ − 1.
  init(_ fraction: Ratio) {
    self.init(Int32(clamping: fraction.numerator), Int32(clamping: fraction.denominator))
  }
}

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
