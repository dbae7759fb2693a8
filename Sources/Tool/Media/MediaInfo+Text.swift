// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension MediaInfo {
  /// Bits a second of the file as a whole.
  private var bitrate: Double? {
    guard let size, let duration, duration > .zero else { return nil }
    return Double(size) * 8 / (Double(duration.nanoseconds) / 1e9)
  }

  private func text(_ field: String) -> String? {
    switch video.field(field) {
    case .string(let text): text
    case .fraction(let ratio): "\(ratio.numerator)/\(ratio.denominator)"
    case let value: value?.integer.map { "\($0)" }
    }
  }

  /// A table for people.
  var table: String {
    var rows: [(String, String?)] = [("File", Terminal.printable(name)), ("Container", container)]
    rows.append(("Size", size.map { "\($0) bytes" }))
    rows.append(("Duration", duration.map { (isEstimate ? "about " : "") + Text.time($0) }))
    rows.append(("Bitrate", bitrate.map(Self.bits)))
    rows.append(
      (
        "Video",
        [
          video.codec?.rawValue, text("profile").map { "\($0) profile" },
          text("level").map { "level \($0)" }, text("tier").map { "\($0) tier" },
        ].compactMap(\.self).joined(separator: ", ")
      ))
    if let width = text("width"), let height = text("height") {
      let ratio = text("pixel-aspect-ratio").flatMap { $0 == "1/1" ? nil : ", pixel aspect ratio \($0)" } ?? ""
      rows.append(("Picture", "\(width)x\(height)\(ratio)"))
    }
    rows.append(("Frame rate", frameRate))
    rows.append(("Video bitrate", videoBitrate.map(Self.bits)))
    let depths = [text("bit-depth-luma"), text("bit-depth-chroma")].compactMap(\.self)
    let depth = Set(depths).count == 1 ? depths.prefix(1) : depths[...]
    rows.append(("Samples", text("chroma-format").map { "\($0), \(depth.joined(separator: " and ")) bits" }))
    rows.append(("Colorimetry", text("colorimetry")))
    rows.append(("Interlacing", text("interlace-mode").flatMap { $0 == "progressive" ? nil : $0 }))
    rows.append(("Mastering display", text("mastering-display-info")))
    rows.append(("Content light level", text("content-light-level")))
    rows.append(("Rotation", video.orientation))
    for stream in others {
      let details = [
        stream.codecName, stream.tag("language-code")?.string,
        stream.field("rate")?.integer.map { "\($0) Hz" }, stream.field("channels")?.integer.map { "\($0) channels" },
        stream.tag("bitrate")?.number.map(Self.bits),
      ]
      rows.append((Self.capitalised(stream.kind), details.compactMap(\.self).joined(separator: ", ")))
    }
    if let counts {
      rows.append(("Pictures", "\(counts.pictures)"))
      rows.append(("Groups", "\(counts.keyframes)"))
    }
    return rows.compactMap { name, value in value.map { Text.padded(name, 20) + $0 } }.joined(separator: "\n")
  }

  /// `29.97 (30000/1001)`.
  private var frameRate: String? {
    guard let rate = video.field("framerate")?.fraction, rate.numerator > 0, rate.denominator > 0 else { return nil }
    let decimal = Text.fixed(Double(rate.numerator) / Double(rate.denominator), 3)
    return rate.denominator == 1 ? "\(rate.numerator)" : "\(decimal) (\(rate.numerator)/\(rate.denominator))"
  }

  private static func bits(_ number: Double) -> String { "\(Text.fixed(number / 1000, 1)) kbit/s" }
  private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// The same for programs: bits and bytes, seconds, ratios as text.
  var document: JSON {
    let fields = [
      "profile", "level", "tier", "width", "height", "pixel-aspect-ratio", "framerate", "interlace-mode",
      "chroma-format", "bit-depth-luma", "bit-depth-chroma", "colorimetry", "mastering-display-info",
      "content-light-level", "stream-format", "alignment",
    ]
    var stream: [(String, JSON)] = [("codec", JSON(video.codec?.rawValue))]
    for field in fields {
      guard let value = video.field(field) else { continue }
      stream.append((field, value.integer.map(JSON.integer) ?? JSON(text(field))))
    }
    stream += [("bitrate", JSON(videoBitrate)), ("rotation", JSON(video.orientation))]
    if let counts { stream += [("pictures", .integer(counts.pictures)), ("groups", .integer(counts.keyframes))] }
    let rest = others.map { stream in
      JSON.object([
        ("kind", .string(stream.kind)), ("codec", .string(stream.codecName)),
        ("language", JSON(stream.tag("language-code")?.string)), ("rate", JSON(stream.field("rate")?.integer)),
        ("channels", JSON(stream.field("channels")?.integer)), ("bitrate", JSON(stream.tag("bitrate")?.number)),
      ])
    }
    return .object([
      ("file", .string(name)), ("container", .string(container)), ("size", JSON(size)),
      ("duration", JSON(duration.map { Double($0.nanoseconds) / 1e9 })), ("estimated", .boolean(isEstimate)),
      ("bitrate", JSON(bitrate)), ("video", .object(stream)), ("streams", .array(rest)),
    ])
  }
}
