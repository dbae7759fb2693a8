// SPDX-License-Identifier: MPL-2.0
import AVFormat
import StreamReport

/// The elements of a Matroska file (RFC 9559) that libavformat does not read, so a copy does not have them.
struct UnreadElements {
  fileprivate struct Track {
    /// Pixels at the left, top, right and bottom.
    var crop: [UInt64] = [0, 0, 0, 0]
    var language: String?
    /// The language by RFC 5646 (BCP 47): it has precedence.
    var languageTag: String?
    /// The additions that MP4 has as boxes.
    var boxes: [MP4.VisualSampleDescription.WholeBox] = []
  }

  /// Tracks that are streams, in the order of the file.
  private var tracks: [Track] = []
  private var nestedChapters = 0
  private var furtherTitles = 0
  private var (editions, orderedEditions) = (0, 0)

  /// - Returns: `nil` for a pipe, and for other containers.
  init?(_ input: InputFile) {
    guard input.kind == .container(.matroska), input.size != nil, let source = try? InputBytes(input) else {
      return nil
    }
    self.init(source)
  }

  /// - Returns: `nil` for bytes that are no Matroska.
  init?(_ source: InputBytes) {
    guard let (head, start) = Self.header(source, at: 0), head.id == ID.ebml, let size = head.size,
      case (let segmentPlace, false) = start.addingReportingOverflow(size),
      let (segment, begin) = Self.header(source, at: segmentPlace), segment.id == MatroskaElement.segment
    else { return nil }
    var (place, chapters, hasChapters): (UInt64, UInt64?, Bool) = (begin, nil, false)
    for _ in 0..<Self.elementLimit {
      guard let (header, content) = Self.header(source, at: place), header.id != ID.cluster else { break }
      switch header.id {
      case ID.seekHead: chapters = chapters ?? Self.place(of: ID.chapters, Self.content(header, content, source))
      case ID.tracks: readTracks(Self.content(header, content, source))
      case ID.chapters:
        hasChapters = true
        readChapters(Self.content(header, content, source))
      default: break
      }
      guard let size = header.size, case (let next, false) = content.addingReportingOverflow(size) else { break }
      place = next
    }
    guard !hasChapters, let chapters, case (let behind, false) = begin.addingReportingOverflow(chapters),
      let (header, content) = Self.header(source, at: behind), header.id == ID.chapters
    else { return }
    readChapters(Self.content(header, content, source))
  }

  // MARK: Reading

  private enum ID {
    static let ebml: UInt32 = 0x1A45_DFA3
    static let seekHead: UInt32 = 0x114D_9B74
    static let cluster: UInt32 = 0x1F43_B675
    static let tracks: UInt32 = 0x1654_AE6B
    static let chapters: UInt32 = 0x1043_A770
    static let chapterAtom: UInt32 = 0xB6
  }

  /// Elements in front of the first cluster: more than files have.
  private static let elementLimit = 64
  /// The largest element that is read, in bytes.
  private static let sizeLimit: UInt64 = 1 << 24
  /// Chapters in chapters: more levels than anyone needs.
  private static let depthLimit = 8
  /// Video, audio, subtitles and metadata, which are streams for libavformat.
  private static let streamTypes: Set<UInt64> = [1, 2, 17, 33]

  /// The header of an element, and the position of its content.
  private static func header(
    _ source: InputBytes, at place: UInt64
  ) -> (header: MatroskaElement.Header, content: UInt64)? {
    guard let header = MatroskaElement.Header(source.read(at: place, count: MatroskaElement.Header.maximumLength)),
      case (let content, false) = place.addingReportingOverflow(UInt64(header.length))
    else { return nil }
    return (header, content)
  }

  private static func content(
    _ header: MatroskaElement.Header, _ place: UInt64, _ source: InputBytes
  ) -> [UInt8] {
    guard let size = header.size, size <= sizeLimit else { return [] }
    return source.read(at: place, count: Int(size))
  }

  /// The position of an element by the index, in bytes from the start of the segment's content.
  private static func place(of id: UInt32, _ seekHead: [UInt8]) -> UInt64? {
    for seek in MatroskaElement.all(in: seekHead.indices, of: seekHead) where seek.id == 0x4DBB {
      let fields = seek.children(seekHead)
      guard fields.first(where: { $0.id == 0x53AB })?.number(seekHead) == UInt64(id) else { continue }
      return fields.first { $0.id == 0x53AC }?.number(seekHead)
    }
    return nil
  }

  private mutating func readTracks(_ bytes: [UInt8]) {
    for entry in MatroskaElement.all(in: bytes.indices, of: bytes) where entry.id == 0xAE {
      var (track, isStream) = (Track(), false)
      for field in entry.children(bytes) {
        switch field.id {
        case 0x83: isStream = Self.streamTypes.contains(field.number(bytes))
        case 0x22B59C: track.language = field.text(bytes)
        case 0x22B59D: track.languageTag = field.text(bytes)
        case 0x41E4: if let box = Self.box(field, bytes) { track.boxes.append(box) }
        case 0xE0:
          for crop in field.children(bytes) {
            guard let side = [0x54CC, 0x54BB, 0x54DD, 0x54AA].firstIndex(of: crop.id) else { continue }
            track.crop[side] = crop.number(bytes)
          }
        default: break
        }
      }
      if isStream { tracks.append(track) }
    }
  }

  /// The record of Dolby Vision, and the configuration of its enhancement layer.
  private static let boxTypes: Set = [
    FourCharacterCode("dvcC"), FourCharacterCode("dvvC"), FourCharacterCode("dvwC"), FourCharacterCode("hvcE"),
    FourCharacterCode("avcE"),
  ]

  /// A BlockAdditionMapping of a type that MP4 has as a box with the same content; `nil` for another.
  private static func box(
    _ mapping: MatroskaElement, _ bytes: [UInt8]
  ) -> MP4.VisualSampleDescription.WholeBox? {
    let fields = mapping.children(bytes)
    guard let number = fields.first(where: { $0.id == 0x41E7 })?.number(bytes),
      let type = boxTypes.first(where: { UInt64($0.rawValue) == number }),
      let content = fields.first(where: { $0.id == 0x41ED })?.content
    else { return nil }
    return MP4.VisualSampleDescription.WholeBox(type: type, content: Array(bytes[content]))
  }

  /// The boxes that a stream's description has in MP4.
  func boxes(of stream: Int) -> [MP4.VisualSampleDescription.WholeBox] {
    tracks.indices.contains(stream) ? tracks[stream].boxes : []
  }

  private mutating func readChapters(_ bytes: [UInt8]) {
    for edition in MatroskaElement.all(in: bytes.indices, of: bytes) where edition.id == 0x45B9 {
      editions += 1
      let fields = edition.children(bytes)
      if fields.contains(where: { $0.id == 0x45DD && $0.number(bytes) != 0 }) { orderedEditions += 1 }
      for atom in fields where atom.id == ID.chapterAtom { readChapter(atom, bytes, depth: 0) }
    }
  }

  private mutating func readChapter(_ atom: MatroskaElement, _ bytes: [UInt8], depth: Int) {
    let fields = atom.children(bytes)
    if depth == 0 { furtherTitles += max(0, fields.count { $0.id == 0x80 } - 1) } else { nestedChapters += 1 }
    guard depth < Self.depthLimit else { return }
    for child in fields where child.id == ID.chapterAtom { readChapter(child, bytes, depth: depth + 1) }
  }

  // MARK: Losses

  /// A line for each loss, for the user.
  ///
  /// - Parameters:
  ///   - video: the place of the stream whose video was kept.
  ///   - others: the places of other streams that were kept.
  func losses(video: Int?, others: [Int]) -> [String] {
    var losses: [String] = []
    if let video, tracks.indices.contains(video), !FormatLibrary.keepsGeometry,
      tracks[video].crop.contains(where: { $0 > 0 })
    {
      let crop = tracks[video].crop
      losses.append("cropping (left \(crop[0]), top \(crop[1]), right \(crop[2]), bottom \(crop[3]))")
    }
    for stream in ([video].compactMap(\.self) + others).sorted() where tracks.indices.contains(stream) {
      guard let tag = tracks[stream].languageTag, !tracks[stream].hasLanguage(tag) else { continue }
      losses.append("language of stream \(stream) (\(tag))")
    }
    if nestedChapters > 0 { losses.append(Text.count(nestedChapters, "nested chapter")) }
    if furtherTitles > 0 { losses.append(Text.count(furtherTitles, "further title") + " of chapters") }
    if orderedEditions > 0 { losses.append("the order in which chapters are played") }
    if editions > 1 { losses.append("\(editions) editions, whose chapters become one list") }
    return losses
  }
}

extension UnreadElements.Track {
  /// Whether the code that libavformat reads has all of a tag: no script, region or variant. English is the language
  /// of a track without a code.
  fileprivate func hasLanguage(_ tag: String) -> Bool {
    guard !tag.isEmpty, tag != "und", !tag.utf8.contains(UInt8(ascii: "-")) else { return tag.isEmpty || tag == "und" }
    return language != nil ? language != "und" : tag == "en" || tag == "eng"
  }
}
