// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import StreamReport

extension MediaInfo {
  /// Bits a second of the file as a whole.
  private var bitrate: Double? {
    guard let size, let duration, duration > .zero else { return nil }
    return Double(size) * 8 / (Double(duration.nanoseconds) / 1e9)
  }

  /// The table that `h26x info` prints.
  var table: String {
    var rows: [(String, String?)] = [("File", name), ("Container", container)]
    if programs.count > 1 { rows.append(("Programs", "\(programs.count), of which one is read\(programList)")) }
    rows.append(("Size", size.map { "\($0) bytes" }))
    rows.append(("Duration", duration.map { (isEstimate ? "about " : "") + Text.time($0) }))
    rows.append(("Bitrate", bitrate.map(Self.bits)))
    rows.append(
      (
        "Video",
        [
          video.codec?.name, video.text("profile").map { "\($0) profile" },
          video.text("level").map { "level \($0)" }, video.text("tier").map { "\($0) tier" },
          others.isEmpty && programs.count < 2 ? nil : video.number.map { "stream \($0)" },
        ].compactMap(\.self).joined(separator: ", ")
      ))
    rows.append(("Encryption", encryption.map { "\($0), so pictures cannot be decoded" }))
    rows.append(("Layers", layers))
    rows.append(("Edit list", otherEditRate.map { "an edit with media rate \(Text.fixed($0, 2)), shown at rate 1" }))
    if let width = video.text("width"), let height = video.text("height") {
      let ratio = video.text("pixel-aspect-ratio").flatMap { $0 == "1/1" ? nil : ", pixel aspect ratio \($0)" } ?? ""
      rows.append(("Picture", "\(width)x\(height)\(ratio)"))
    }
    rows.append(("Frame rate", frameRate))
    rows.append(("Video bitrate", videoBitrate.map { (isVideoBitrateEstimate ? "about " : "") + Self.bits($0) }))
    let depths = [video.text("bit-depth-luma"), video.text("bit-depth-chroma")].compactMap(\.self)
    let depth = Set(depths).count == 1 ? depths.prefix(1) : depths[...]
    rows.append(("Samples", video.text("chroma-format").map { "\($0), \(depth.joined(separator: " and ")) bits" }))
    rows.append(("Colorimetry", video.text("colorimetry").map(Self.colours)))
    rows.append(("Interlacing", video.text("interlace-mode").flatMap { $0 == "progressive" ? nil : $0 }))
    rows.append(("Mastering display", video.text("mastering-display-info").map(SEIText.masteringDisplay)))
    rows.append(("Content light level", video.text("content-light-level").map(SEIText.contentLight)))
    rows.append(("Rotation", video.orientation.map(Self.turned)))
    for stream in others {
      let details = [
        stream.codecName, stream.language, stream.text("rate").map { "\($0) Hz" },
        stream.fields["channels"]?.integer.map { Text.count($0, "channel") }, stream.bitrate.map(Self.bits),
        stream.number.map { "stream \($0)" },
      ]
      rows.append((Self.capitalised(stream.kind), details.compactMap(\.self).joined(separator: ", ")))
    }
    if missing > 0 {
      rows.append(("Missing", "\(Text.count(missing, "access unit")) beyond the end of the file, which is cut off"))
    }
    if let counts {
      rows.append(("Pictures", "\(counts.pictures)"))
      rows.append(("Groups", "\(counts.keyframes)"))
    }
    // Tags and names come from the file.
    return rows.compactMap { name, value in value.map { Terminal.printable(Text.padded(name, 20) + $0) } }
      .joined(separator: "\n")
  }

  /// `: 1 (streams 0 and 1), 2 (stream 2)`.
  private var programList: String {
    let known = programs.map { number in
      let streams = programStreams[number, default: []].sorted()
      let list = Text.list(streams.map { "\($0)" })
      return streams.isEmpty ? "\(number)" : "\(number) (stream\(streams.count == 1 ? "" : "s") \(list))"
    }
    return ": \(known.joined(separator: ", "))"
  }

  /// `29.97 (30000/1001)`.
  private var frameRate: String? {
    guard let rate = video.fields["framerate"]?.fraction, rate.numerator > 0, rate.denominator > 0 else { return nil }
    let decimal = Text.fixed(Double(rate.numerator) / Double(rate.denominator), 3)
    if video.isRateVariable { return "variable, \(decimal) on average" }
    return rate.denominator == 1 ? "\(rate.numerator)" : "\(decimal) (\(rate.numerator)/\(rate.denominator))"
  }

  /// `rotate-90` in words: `90 degrees clockwise`.
  private static func turned(_ orientation: String) -> String {
    guard orientation != "unknown" else { return "unknown: the track's matrix does more than rotate and mirror" }
    let (flip, degrees) = (orientation.hasPrefix("flip"), orientation.split(separator: "-").last ?? "")
    return "\(degrees) degrees clockwise" + (flip ? ", flipped" : "")
  }

  /// The colorimetry, in words if only the range is known.
  private static func colours(_ colorimetry: String) -> String {
    switch colorimetry {
    case "1:0:0:0": "full range, nothing else specified"
    case "2:0:0:0": "limited range, nothing else specified"
    default: colorimetry
    }
  }

  private static func bits(_ number: Double) -> String { "\(Text.fixed(number / 1000, 1)) kbit/s" }
  private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// Writes the JSON object that `h26x info --json` prints: bytes, bits a second, seconds, ratios as text.
  func write(to json: inout JSONText) {
    json.open()
    json.member("file", orNull: name)
    json.member("container", string: container)
    json.member("size", orNull: size)
    json.member("duration", orNull: duration.map { Double($0.nanoseconds) / 1e9 })
    json.member("estimated", isEstimate)
    json.member("bitrate", orNull: bitrate)
    json.openArray("programs")
    for program in programs { json.value(Int64(program)) }
    json.closeArray()
    json.key("video")
    writeVideo(to: &json)
    json.openArray("streams")
    for stream in others {
      json.open()
      json.member("stream", orNull: stream.number)
      json.member("kind", string: stream.kind)
      json.member("codec", string: stream.codecName)
      json.member("language", orNull: stream.language)
      json.member("rate", orNull: stream.fields["rate"]?.integer)
      json.member("channels", orNull: stream.fields["channels"]?.integer)
      json.member("bitrate", orNull: stream.bitrate)
      json.close()
    }
    json.closeArray()
    json.close()
  }

  private func writeVideo(to json: inout JSONText) {
    json.open()
    if let number = video.number { json.member("stream", number) }
    json.member("codec", orNull: video.codec?.name)
    for field in StreamDetails.videoFields {
      guard let value = video.fields[field] else { continue }
      json.key(string: field)
      if let integer = value.integer {
        json.value(Int64(integer))
      } else if let text = video.text(field) {
        json.value(string: text)
      } else {
        json.value(literal: "null")
      }
    }
    json.member("bitrate", orNull: videoBitrate)
    json.member("rotation", orNull: video.orientation)
    if let counts {
      json.member("pictures", counts.pictures)
      json.member("groups", counts.keyframes)
    }
    if video.isRateVariable { json.member("variable-framerate", true) }
    if missing > 0 { json.member("missing", missing) }
    if let encryption { json.member("encryption", string: encryption) }
    if let layers { json.member("layers", string: layers) }
    if otherEditRate != nil { json.member("edit-rate", orNull: otherEditRate) }
    json.close()
  }
}
