// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer
import H26x

extension StreamDetails {
  /// The fields that a parser would put into caps.
  ///
  /// - Parameters:
  ///   - display: display metadata of SEI messages.
  ///   - streamFormat: the caps field stream-format.
  ///   - colour: the colour that the container states; `nil` for none.
  init(
    _ format: FormatDescription, _ display: DisplayMetadata, streamFormat: String,
    colour: StreamDescription.Colour? = nil
  ) {
    self.init(kind: "video", codec: format.codec, codecName: format.codec.name)
    let size = format.frameSize
    fields["width"] = .int(Int32(clamping: size.width))
    fields["height"] = .int(Int32(clamping: size.height))
    fields["profile"] = format.profileName.map(FieldValue.string)
    fields["level"] = format.levelName.map(FieldValue.string)
    fields["tier"] = format.tierName.map(FieldValue.string)
    fields["chroma-format"] = .string(format.chromaFormat.name)
    fields["bit-depth-luma"] = .int(Int32(clamping: format.lumaBitDepth))
    fields["bit-depth-chroma"] = .int(format.chromaFormat == .monochrome ? 0 : Int32(clamping: format.chromaBitDepth))
    fields["pixel-aspect-ratio"] = format.pixelAspectRatio.map { .fraction(Fraction($0)) }
    fields["framerate"] = format.plausibleFrameRate.map { .fraction(Fraction($0)) }
    fields["colorimetry"] = StreamDescription.Colour.capsText(
      colour, format, preferringTransfer: display.alternativeTransfer?.preferredTransfer
    ).map(FieldValue.string)
    fields["mastering-display-info"] = display.masteringDisplay.flatMap(Self.text).map(FieldValue.string)
    fields["content-light-level"] = display.contentLight.map { .string("\($0.maximum):\($0.maximumPictureAverage)") }
    fields["stream-format"] = .string(streamFormat)
    fields["alignment"] = "au"
  }

  /// The caps field: red, green, blue, white point, luminance. The SEI message has green, blue, red.
  private static func text(_ display: MasteringDisplayColourVolume) -> String? {
    guard display.primaries.count == 3 else { return nil }
    let points = [display.primaries[2], display.primaries[0], display.primaries[1], display.whitePoint]
    return (points.flatMap { [UInt32($0.x), UInt32($0.y)] } + [display.maximumLuminance, display.minimumLuminance])
      .map { "\($0)" }.joined(separator: ":")
  }
}

extension FormatDescription {
  /// The frame rate; `nil` if it is more than twice the level's limit, because such VUI timing is not meant.
  var plausibleFrameRate: Ratio? {
    guard let frameRate, Double(frameRate.numerator) / Double(frameRate.denominator) <= 2 * maximumFrameRate else {
      return nil
    }
    return frameRate
  }
}
