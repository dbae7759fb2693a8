// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x

/// The playlist that lists renditions (RFC 8216, 4.3.4): one video, its captions, and its sound.
struct MultivariantPlaylist {
  /// A playlist of segments, and its bits a second.
  struct Media {
    /// The reference to the playlist.
    let reference: String
    let (peak, average): (Int64, Int64)
  }

  /// A sound rendition.
  struct Sound {
    let media: Media
    let stream: StreamDescription
    /// The codec, by ``CodecsParameter``.
    let codec: String
  }

  /// The properties of the video that players choose by.
  struct Video {
    let media: Media
    /// ``CodecsParameter``; `nil` for unknown ones.
    var (codec, supplementalCodec): (String?, String?)
    /// The size on square pixels.
    var size: (width: Int, height: Int)
    /// Frames a second; `nil` if that is not known.
    var frameRate: Double?
    /// `SDR`, `HLG` or `PQ`.
    var range: String
    var captions: CaptionServices
  }

  let video: Video
  let sounds: [Sound]
  /// Whether each segment can be decoded without another one.
  let isIndependent: Bool

  var text: String {
    let groups = Self.groups(sounds)
    let captions = captionLines
    // Services of CTA-708 need version 7.
    let hasServices = video.captions.services.contains { if case .digital = $0 { true } else { false } }
    var lines = ["#EXTM3U", "#EXT-X-VERSION:\(hasServices ? 7 : 6)"]
    if isIndependent { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
    for group in groups { lines += Self.soundLines(group.sounds, group: group.id) }
    lines += captions
    for group in groups.isEmpty ? [(id: "", sounds: [])] : groups {
      lines += [variantLine(group.id, group.sounds, hasCaptions: !captions.isEmpty), video.media.reference]
    }
    return lines.map { "\($0)\n" }.joined()
  }

  private func variantLine(_ group: String, _ sounds: [Sound], hasCaptions: Bool) -> String {
    // The sound with the most bits counts.
    let (peak, average) = (sounds.map(\.media.peak).max() ?? 0, sounds.map(\.media.average).max() ?? 0)
    var codecs = [video.codec].compactMap(\.self)
    for sound in sounds where !codecs.contains(sound.codec) { codecs.append(sound.codec) }
    return Self.line(
      "EXT-X-STREAM-INF",
      [
        ("BANDWIDTH", "\(video.media.peak + peak)"), ("AVERAGE-BANDWIDTH", "\(video.media.average + average)"),
        // Without the video's, the list would be wrong.
        ("CODECS", video.codec == nil ? nil : Self.quoted(codecs.joined(separator: ","))),
        ("SUPPLEMENTAL-CODECS", video.supplementalCodec.map(Self.quoted)),
        ("RESOLUTION", "\(video.size.width)x\(video.size.height)"),
        ("FRAME-RATE", video.frameRate.map { Text.fixed($0, 3) }), ("VIDEO-RANGE", video.range),
        ("AUDIO", sounds.isEmpty ? nil : Self.quoted(group)),
        ("CLOSED-CAPTIONS", hasCaptions ? Self.quoted(Self.captionGroup) : "NONE"),
      ])
  }

  // MARK: Sound

  /// What distinguishes sounds of one codec.
  private struct Member: Hashable {
    let (language, title): (String?, String?)
    let disposition: StreamDescription.Disposition

    init(_ sound: Sound) {
      language = sound.stream.language
      title = sound.stream.metadata[key: "title"]
      disposition = sound.stream.disposition.subtracting([.isDefault])
    }
  }

  /// The groups of sounds that players choose from. If each codec has the same sounds, each has a group, so players
  /// leave out codecs that they lack. Groups must have the same members (RFC 8216, 4.3.4.1.1), so other sounds are in
  /// one group.
  private static func groups(_ sounds: [Sound]) -> [(id: String, sounds: [Sound])] {
    guard !sounds.isEmpty else { return [] }
    var groups: [(id: String, sounds: [Sound])] = []
    for sound in sounds {
      if let place = groups.firstIndex(where: { $0.sounds[0].codec == sound.codec }) {
        groups[place].sounds.append(sound)
      } else {
        groups.append((id: "audio-\(groups.count + 1)", sounds: [sound]))
      }
    }
    let members = groups.map { $0.sounds.map(Member.init) }
    let areAlike = members.allSatisfy { Set($0) == Set(members[0]) && Set($0).count == $0.count }
    return groups.count > 1 && areAlike ? groups : [(id: "audio", sounds: sounds)]
  }

  /// What players choose sounds by without the user.
  private struct Choice: Hashable {
    let (language, characteristics): (String?, String?)

    init(_ sound: Sound) {
      language = sound.stream.language.flatMap(Language.tag)
      characteristics =
        sound.stream.disposition.contains(.visualImpaired) ? "public.accessibility.describes-video" : nil
    }
  }

  private static func soundLines(_ sounds: [Sound], group: String) -> [String] {
    let first = sounds.firstIndex { $0.stream.disposition.contains(.isDefault) } ?? 0
    let choices = sounds.map(Choice.init)
    var names: Set<String> = []
    return sounds.enumerated().map { number, sound in
      let (language, characteristics) = (choices[number].language, choices[number].characteristics)
      let title = sound.stream.metadata[key: "title"].flatMap { $0.isEmpty ? nil : $0 } ?? language
      var (name, count) = (title ?? "Audio", 1)
      while !names.insert(name).inserted {
        count += 1
        name = "\(title ?? "Audio") \(count)"
      }
      // Players must be able to choose: of equal sounds, one is for them (RFC 8216, 4.3.4.1).
      let isChosen =
        number == first || choices[number] != choices[first] && choices.firstIndex(of: choices[number]) == number
      return line(
        "EXT-X-MEDIA",
        [
          ("TYPE", "AUDIO"), ("GROUP-ID", quoted(group)), ("NAME", quoted(name)), ("LANGUAGE", language.map(quoted)),
          ("DEFAULT", number == first ? "YES" : "NO"), ("AUTOSELECT", isChosen ? "YES" : "NO"),
          ("CHARACTERISTICS", characteristics.map(quoted)), ("CHANNELS", quoted("\(sound.stream.channels)")),
          ("URI", quoted(sound.media.reference)),
        ])
    }
  }

  // MARK: Captions

  private static let captionGroup = "captions"

  private var captionLines: [String] {
    video.captions.services.compactMap { service in
      let id: String
      switch service {
      case .caption(let number): id = "CC\(number)"
      case .digital(let number): id = "SERVICE\(number)"
      default: return nil
      }
      let language = video.captions.language(of: service).flatMap(Language.tag)
      return Self.line(
        "EXT-X-MEDIA",
        [
          ("TYPE", "CLOSED-CAPTIONS"), ("GROUP-ID", Self.quoted(Self.captionGroup)), ("NAME", Self.quoted(id)),
          ("LANGUAGE", language.map(Self.quoted)), ("INSTREAM-ID", Self.quoted(id)),
        ])
    }
  }

  // MARK: Text

  private static func line(_ tag: String, _ attributes: [(name: String, value: String?)]) -> String {
    let list = attributes.compactMap { name, value in value.map { "\(name)=\($0)" } }
    return "#\(tag):\(list.joined(separator: ","))"
  }

  /// Text in quotes, without quotes and line feeds of its own (RFC 8216, 4.2).
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      quoted.unicodeScalars.append(scalar == "\"" ? "'" : scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
    }
    return quoted + "\""
  }
}
