// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
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
    rows.append(("Peak bitrate", peakBitrate.map { "\(Self.bits($0)) in one second" }))
    let depths = [video.text("bit-depth-luma"), video.text("bit-depth-chroma")].compactMap(\.self)
    let depth = Set(depths).count == 1 ? depths.prefix(1) : depths[...]
    rows.append(("Samples", video.text("chroma-format").map { "\($0), \(depth.joined(separator: " and ")) bits" }))
    rows.append(("Colorimetry", video.text("colorimetry").map(Self.colours)))
    rows.append(("Interlacing", interlacing))
    rows += metadataRows
    rows.append(("Mastering display", video.text("mastering-display-info").map(SEIText.masteringDisplay)))
    rows.append(("Content light level", video.text("content-light-level").map(SEIText.contentLight)))
    rows.append(("Rotation", video.orientation.map(Self.turned)))
    for stream in others {
      let details: [String?] = [
        stream.codecName, stream.language, stream.text("rate").map { "\($0) Hz" },
        stream.fields["channels"]?.integer.map { Text.count($0, "channel") }, stream.title.map { "\"\($0)\"" },
        stream.flags.isEmpty ? nil : Text.list(stream.flags), stream.bitrate.map(Self.bits),
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

  private var interlacing: String? {
    guard let mode = video.text("interlace-mode"), mode != "progressive" else { return nil }
    switch metadata.scanOrder {
    case "top-field-first": return "\(mode), top field first"
    case "bottom-field-first": return "\(mode), bottom field first"
    default: return mode
    }
  }

  private var metadataRows: [(String, String?)] {
    let formats = metadata.hdrFormats.map { format in
      format == "HDR10+" ? metadata.hdr10PlusProfile.map { "\(format) profile \($0)" } ?? format : format
    }
    var rows: [(String, String?)] = [("HDR", formats.isEmpty ? nil : formats.joined(separator: ", "))]
    if let record = metadata.dolbyVision, let profile = metadata.dolbyVisionProfile {
      let isStated = metadata.isDolbyVisionStated
      let parts: [String?] = [
        "profile \(profile)", "level \(record.level)", metadata.dolbyVisionLayers, metadata.enhancementLayer,
        isStated ? nil : "by the stream alone",
      ]
      rows.append(("Dolby Vision", parts.compactMap(\.self).joined(separator: ", ")))
    }
    if metadata.hasLCEVC { rows.append(("Enhancement", "LCEVC")) }
    let captions = metadata.captions.map { $0.service + ($0.language.map { " (\($0))" } ?? "") }
    rows.append(("Captions", captions.isEmpty ? nil : captions.joined(separator: ", ")))
    rows.append(("Encoder", metadata.encoder))
    rows.append(("Reference frames", metadata.referenceFrames.map { "\($0) at most" }))
    rows.append(
      (
        "Keyframe distance",
        metadata.group.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
          .map { "\($0) pictures" }
      ))
    return rows
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
      json.member("title", orNull: stream.title)
      json.openArray("flags")
      for flag in stream.flags { json.value(string: flag) }
      json.closeArray()
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
    if peakBitrate != nil { json.member("peak-bitrate", orNull: peakBitrate) }
    json.member("rotation", orNull: video.orientation)
    writeMetadata(to: &json)
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

  private func writeMetadata(to json: inout JSONText) {
    json.openArray("hdr")
    for format in metadata.hdrFormats { json.value(string: format) }
    json.closeArray()
    if let profile = metadata.hdr10PlusProfile { json.member("hdr10plus-profile", string: profile) }
    if let record = metadata.dolbyVision, let profile = metadata.dolbyVisionProfile {
      json.member("dolby-vision", string: profile)
      json.member("dolby-vision-level", record.level)
      json.member("dolby-vision-layers", string: metadata.dolbyVisionLayers ?? "")
      if let layer = metadata.enhancementLayer { json.member("dolby-vision-enhancement", string: layer) }
      json.member("dolby-vision-record", metadata.isDolbyVisionStated)
    }
    if metadata.hasLCEVC { json.member("lcevc", true) }
    json.openArray("captions")
    for captions in metadata.captions {
      json.open()
      json.member("service", string: captions.service)
      json.member("language", orNull: captions.language)
      json.close()
    }
    json.closeArray()
    if let encoder = metadata.encoder { json.member("encoder", string: encoder) }
    if let settings = metadata.encoderSettings { json.member("encoder-settings", string: settings) }
    if let count = metadata.referenceFrames { json.member("reference-frames", count) }
    if let group = metadata.group {
      json.member("gop-minimum", group.lowerBound)
      json.member("gop-maximum", group.upperBound)
    }
    if let order = metadata.scanOrder { json.member("scan-order", string: order) }
  }
}
