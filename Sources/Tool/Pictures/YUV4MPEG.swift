// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// The headers of YUV4MPEG2, the format of mjpegtools that encoders read (yuv4mpeg(5)).
enum YUV4MPEG {
  /// The caps of the formats that it supports.
  static let caps =
    "video/x-raw, format=(string){ I420, Y42B, Y444, GRAY8, I420_10LE, I422_10LE, Y444_10LE, GRAY10_LE16, I420_12LE, "
    + "I422_12LE, Y444_12LE }"

  /// The stream header; `nil` for a format that it does not support.
  static func header(_ picture: Sample, _ info: VideoInfo) -> String? {
    let (chromaSite, isFullRange) = (picture.capsField("chroma-site")?.string, info.isFullRange)
    let fieldOrder = picture.capsField("field-order")?.string
    guard let samples = samples(info.format.name, chromaSite: chromaSite, isFullRange: isFullRange) else { return nil }
    let rate = info.frameRate.numerator > 0 ? info.frameRate : Fraction(0, 0)
    let shape = info.pixelAspectRatio
    let interlacing =
      switch info.interlaceMode {
      case .progressive: "p"
      case .interleaved: fieldOrder == "bottom-field-first" ? "b" : fieldOrder == "top-field-first" ? "t" : "m"
      default: "m"
      }
    return "YUV4MPEG2 W\(info.width) H\(info.height) F\(rate.numerator):\(rate.denominator) I\(interlacing) "
      + "A\(shape.numerator):\(shape.denominator) C\(samples)\(isFullRange ? " XCOLORRANGE=FULL" : "")\n"
  }

  /// The frame header, with the field order if it may change from picture to picture.
  static func frameHeader(_ info: VideoInfo, fieldOrder: String?, flags: Buffer.Flags) -> String {
    let isMixed = info.interlaceMode != .progressive && (fieldOrder == nil || info.interlaceMode != .interleaved)
    guard isMixed else { return "FRAME\n" }
    guard flags.contains(.interlaced) else { return "FRAME I1pp\n" }
    let order =
      switch (flags.contains(.topFieldFirst), flags.contains(.repeatFirstField)) {
      case (true, false): "t"
      case (true, true): "T"
      case (false, false): "b"
      case (false, true): "B"
      }
    return "FRAME I\(order)ii\n"
  }

  private static func samples(_ format: String, chromaSite: String?, isFullRange: Bool) -> String? {
    switch format {
    case "I420":
      switch chromaSite {
      case "jpeg", "center": "420jpeg"
      // Full range is JPEG's: programs that do not support XCOLORRANGE take it from this name, as ffmpeg writes it.
      case _ where isFullRange: "420jpeg"
      case "dv", "cosited": "420paldv"
      // Without chroma location in the VUI, H.264 and H.265 have the sample positions of MPEG-2 (type 0).
      default: "420mpeg2"
      }
    case "Y42B": "422"
    case "Y444": "444"
    case "GRAY8": "mono"
    case "GRAY10_LE16": "mono10"
    case "I420_10LE": "420p10"
    case "I422_10LE": "422p10"
    case "Y444_10LE": "444p10"
    case "I420_12LE": "420p12"
    case "I422_12LE": "422p12"
    case "Y444_12LE": "444p12"
    default: nil
    }
  }
}
