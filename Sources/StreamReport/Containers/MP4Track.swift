// SPDX-License-Identifier: MPL-2.0
package import H26x

extension MP4 {
  /// A sample description of a video track: an entry of `stsd` (ISO/IEC 14496-12, 8.5.2; 14496-15, 5.4.2 and 8.4.1).
  public struct VisualSampleDescription: Sendable, Hashable {
    /// `avc1`, `avc3`, `hvc1`, `hev1`, …
    public var coding: FourCharacterCode
    /// `width` in luma samples.
    public var width: Int
    /// `height` in luma samples.
    public var height: Int
    /// The content of `avcC` or `hvcC`; empty when there is none.
    public var configuration: [UInt8] = []
    /// `colr` of type `nclx` or `nclc`; nil without one.
    public var colour: Colour?
    /// `hSpacing` and `vSpacing` of `pasp`; nil without one.
    public var pixelAspectRatio: PixelAspectRatio?
    /// All boxes in it but `avcC` and `hvcC`, in their order.
    package var otherBoxes: [WholeBox] = []

    /// A box as it is in the file.
    package struct WholeBox: Sendable, Hashable {
      package let type: FourCharacterCode
      /// Its header and content.
      package let bytes: [UInt8]

      package init(type: FourCharacterCode, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }

      /// Creates a box with a header of eight bytes.
      package init(type: FourCharacterCode, content: [UInt8]) {
        func bytes(_ number: UInt32) -> [UInt8] {
          (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
        }
        self.init(type: type, bytes: bytes(UInt32(clamping: content.count + 8)) + bytes(type.rawValue) + content)
      }
    }

    /// The shape of a pixel.
    public struct PixelAspectRatio: Sendable, Hashable {
      /// Its relative width.
      public var horizontal: UInt32
      /// Its relative height.
      public var vertical: UInt32
    }

    /// The code points of a `colr` box (ITU-T H.273).
    public struct Colour: Sendable, Hashable {
      /// `colour_primaries`.
      public var primaries: UInt16
      /// `transfer_characteristics`.
      public var transfer: UInt16
      /// `matrix_coefficients`.
      public var matrix: UInt16
      /// `full_range_flag`; nil in type `nclc`, which has none.
      public var isFullRange: Bool?
    }
  }

  /// A track of a file.
  public struct Track: Sendable, Hashable {
    /// `track_ID`.
    public var id: UInt32 = 0
    /// `handler_type`: `vide`, `soun`, …
    public var handler = FourCharacterCode(rawValue: 0)
    /// Ticks a second.
    public var timescale: UInt32 = 0
    /// `duration` of the media, in the track's timescale; 0 if it is unknown.
    public var duration: UInt64 = 0
    /// ISO 639-2 code, three letters; empty when the file has none.
    public var language = ""
    /// How the matrix of `tkhd` turns pictures; nil for another matrix.
    public var orientation: Orientation? = Orientation(rotation: 0)
    /// The clockwise rotation by the matrix of `tkhd`: 0, 90, 180 or 270 degrees; nil for another matrix, such as one
    /// that mirrors.
    public var rotation: Int? { orientation.flatMap { $0.isMirrored ? nil : $0.rotation } }
    /// `width` of `tkhd`, in 1/65536 of a sample.
    public var presentationWidth: UInt32 = 0
    /// `height` of `tkhd`, in 1/65536 of a sample.
    public var presentationHeight: UInt32 = 0
    /// The edit list, 1024 entries at most.
    public var edits: [Edit] = []
    /// The video sample descriptions, 256 at most.
    public var descriptions: [VisualSampleDescription] = []
    /// The sample entry type of the first sample description, in any kind of track.
    public var coding = FourCharacterCode(rawValue: 0)
    /// `track_enabled`.
    package var isEnabled = true
    /// `name` in `udta`, as MOV has it; empty without one.
    package var title: [UInt8] = []
    /// The boxes within a `meta` box of QuickTime's keys and values (`mdta`); empty without one.
    package var metadata: [UInt8] = []
    /// `track_ID` of the track with chapter titles (`chap` of `tref`); nil without chapters.
    package var chapterTrack: UInt32?
    /// The first sample description of an audio track.
    package var sound: SoundDescription?
    var samples: SampleTable?

    /// The most edits that are kept.
    package static let editLimit = 1024
    /// The longest name that is kept, in bytes.
    private static let titleLimit = 1024
    /// The most sample descriptions that are kept.
    package static let descriptionLimit = 256

    /// The number of samples in the sample table, without those in fragments.
    public var sampleCount: UInt32 { samples?.sampleCount ?? 0 }

    /// Reads a `trak` box.
    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(ReadError) {
      var boxes = Boxes(bytes, in: content)
      while let box = try boxes.next() {
        switch box.type {
        case "tkhd": readHeader(bytes, box)
        case "edts":
          var edits = Boxes(bytes, in: box.content)
          if let list = edits.firstIntact(FourCharacterCode("elst")) { readEdits(bytes, list) }
        case "tref":
          var references = Boxes(bytes, in: box.content)
          if let chapters = references.firstIntact(FourCharacterCode("chap")) {
            chapterTrack = bytes.uint32(at: chapters.content.lowerBound)
          }
        case "udta":
          var entries = Boxes(bytes, in: box.content)
          if let name = entries.firstIntact(FourCharacterCode("name")), name.content.count <= Self.titleLimit {
            title = bytes.array(name.content) ?? []
          }
        case "meta": metadata = Movie.metadata(bytes, box)
        case "mdia": try readMedia(bytes, box)
        default: break
        }
      }
    }

    private mutating func readHeader(_ bytes: Span<UInt8>, _ box: Box) {
      let start = box.content.lowerBound
      let isLong = bytes.uint8(at: start) == 1
      isEnabled = (bytes.uint8(at: start + 3) ?? 1) & 1 != 0
      id = bytes.uint32(at: start + (isLong ? 20 : 12)) ?? 0
      // Before the matrix: times, id, reserved and duration; then 16 bytes of reserved fields, layer, group and volume.
      let matrix = start + (isLong ? 36 : 24) + 16
      presentationWidth = bytes.uint32(at: matrix + 36) ?? 0
      presentationHeight = bytes.uint32(at: matrix + 40) ?? 0
      func entry(_ index: Int) -> Int64 {
        Int64(Int32(bitPattern: bytes.uint32(at: matrix + 4 * index) ?? 0))
      }
      orientation = Orientation(entry(0), entry(1), entry(3), entry(4))
    }

    private mutating func readEdits(_ bytes: Span<UInt8>, _ box: Box) {
      let isLong = bytes.uint8(at: box.content.lowerBound) == 1
      let table = Table(bytes, box.content, stride: isLong ? 20 : 12)
      for index in 0..<min(table.count, Self.editLimit) {
        guard let place = table.offset(index) else { return }
        let size = isLong ? 8 : 4
        let duration = isLong ? bytes.uint64(at: place) : bytes.uint32(at: place).map { UInt64($0) }
        let time =
          isLong
          ? bytes.uint64(at: place + size).map { Int64(bitPattern: $0) }
          : bytes.uint32(at: place + size).map { Int64(Int32(bitPattern: $0)) }
        guard let duration, let time, let rate = bytes.uint32(at: place + 2 * size) else { return }
        edits.append(Edit(duration: duration, mediaTime: time, rate: rate))
      }
    }

    private mutating func readMedia(_ bytes: Span<UInt8>, _ media: Box) throws(ReadError) {
      var boxes = Boxes(bytes, in: media.content)
      while let box = try boxes.next() {
        let start = box.content.lowerBound
        switch box.type {
        case "mdhd":
          let isLong = bytes.uint8(at: start) == 1
          timescale = bytes.uint32(at: start + (isLong ? 20 : 12)) ?? 0
          duration = Movie.duration(bytes, at: start + (isLong ? 24 : 16), isLong: isLong)
          language = Self.language(bytes.uint16(at: start + (isLong ? 32 : 20)) ?? 0)
        case "hdlr": handler = FourCharacterCode(rawValue: bytes.uint32(at: start + 8) ?? 0)
        case "minf":
          var information = Boxes(bytes, in: box.content)
          if let table = try information.first(FourCharacterCode("stbl")) {
            try readTable(bytes, table)
          }
        default: break
        }
      }
    }

    private mutating func readTable(_ bytes: Span<UInt8>, _ table: Box) throws(ReadError) {
      samples = try SampleTable(bytes, table.content)
      var boxes = Boxes(bytes, in: table.content)
      guard let list = try boxes.first(FourCharacterCode("stsd")) else { return }
      let first = min(list.content.lowerBound + 8, list.content.upperBound)
      var entries = Boxes(bytes, in: first..<list.content.upperBound)
      while let entry = try entries.next() {
        if coding.rawValue == 0 {
          coding = entry.type
          if handler == FourCharacterCode("soun") { sound = SoundDescription(bytes, entry) }
        }
        guard handler == FourCharacterCode("vide") || entry.type.videoCodec != nil else { continue }
        if descriptions.count < Self.descriptionLimit {
          descriptions.append(VisualSampleDescription(bytes, entry))
        }
      }
    }

    /// The language code, packed as three letters of five bits; smaller values are Macintosh language codes (QuickTime
    /// File Format, "Language Code Values").
    private static func language(_ code: UInt16) -> String {
      guard code >= 0x400 else { return macintoshLanguages[safe: Int(code)] ?? "" }
      guard code != 0x7FFF else { return "" }
      var text = ""
      for shift in [10, 5, 0] as [UInt16] {
        let letter = UInt8(truncatingIfNeeded: code >> shift & 31)
        guard (1...26).contains(letter) else { return "" }
        text.unicodeScalars.append(Unicode.Scalar(letter + 0x60))
      }
      return text
    }

    /// ISO 639-2 codes of the first Macintosh language codes, from 0.
    private static let macintoshLanguages = [
      "eng", "fre", "ger", "ita", "dut", "swe", "spa", "dan", "por", "nor", "heb", "jpn", "ara", "fin", "gre", "ice",
      "mlt", "tur", "hrv", "chi", "urd", "hin", "tha", "kor", "lit", "pol", "hun", "est", "lav", "smi", "fao", "per",
      "rus", "chi", "dut", "gle", "alb", "rum", "cze", "slo", "slv", "yid", "srp", "mac", "bul", "ukr", "bel",
    ]
  }
}

extension MP4.Track {
  /// The first sample description of H.264 or H.265, and its index; nil if there is none.
  package var video: (index: Int, description: MP4.VisualSampleDescription, codec: FormatDescription.Codec)? {
    for (index, description) in descriptions.enumerated() {
      if let codec = description.coding.videoCodec { return (index, description, codec) }
    }
    return nil
  }
}

extension Array {
  /// The element at an index; nil outside the array.
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension Array where Element == MP4.VisualSampleDescription.WholeBox {
  /// The configuration of Dolby Vision by `dvcC`, `dvvC` or `dvwC`; nil without one.
  package var dolbyVision: DolbyVision.Configuration? {
    for box in self {
      switch box.type {
      case "dvcC", "dvvC", "dvwC":
        do throws(BitstreamError) {
          let bytes = box.bytes.span
          return try DolbyVision.Configuration(bytes.extracting(Swift.min(8, bytes.count)..<bytes.count))
        } catch {
          return nil
        }
      default: break
      }
    }
    return nil
  }
}

extension MP4.VisualSampleDescription {
  /// The configuration of Dolby Vision; nil without one.
  package var dolbyVision: DolbyVision.Configuration? { otherBoxes.dolbyVision }

  /// Whether it has ST 2086 (`mdcv`).
  package var hasMasteringDisplay: Bool {
    for box in otherBoxes where box.type == FourCharacterCode("mdcv") { return true }
    return false
  }

  /// How many boxes are kept as they are, and bytes of them; others follow fields that players need.
  private static let boxLimit = (count: 64, size: 1 << 20)

  private mutating func keep(_ box: MP4.Box, of bytes: Span<UInt8>) {
    guard otherBoxes.count < Self.boxLimit.count, box.range.count <= Self.boxLimit.size,
      otherBoxes.reduce(box.range.count, { $0 + $1.bytes.count }) <= Self.boxLimit.size,
      var whole = bytes.array(box.range)
    else { return }
    // A size of 0 means up to the end of the enclosing box, which is another one after copying.
    if whole.prefix(4).allSatisfy({ $0 == 0 }) {
      for place in 0..<4 { whole[place] = UInt8(truncatingIfNeeded: whole.count >> (24 - 8 * place)) }
    }
    otherBoxes.append(WholeBox(type: box.type, bytes: whole))
  }

  /// Reads a `VisualSampleEntry` (ISO/IEC 14496-12, 12.1.3).
  init(_ bytes: Span<UInt8>, _ entry: MP4.Box) {
    coding = entry.type
    let start = entry.content.lowerBound
    width = Int(bytes.uint16(at: start + 24) ?? 0)
    height = Int(bytes.uint16(at: start + 26) ?? 0)
    // 78 bytes of fields, then boxes, in QuickTime with four zero bytes after them.
    let first = min(start + 78, entry.content.upperBound)
    var boxes = MP4.Boxes(bytes, in: first..<entry.content.upperBound)
    while let box = boxes.nextIntact() {
      let content = box.content.lowerBound
      switch box.type {
      case "avcC", "hvcC":
        configuration = bytes.array(box.content) ?? []
        continue
      case "pasp":
        if let horizontal = bytes.uint32(at: content), let vertical = bytes.uint32(at: content + 4) {
          pixelAspectRatio = PixelAspectRatio(horizontal: horizontal, vertical: vertical)
        }
      case "colr":
        let kind = FourCharacterCode(rawValue: bytes.uint32(at: content) ?? 0)
        guard kind == FourCharacterCode("nclx") || kind == FourCharacterCode("nclc"),
          let primaries = bytes.uint16(at: content + 4),
          let transfer = bytes.uint16(at: content + 6),
          let matrix = bytes.uint16(at: content + 8)
        else { break }
        let range =
          kind == FourCharacterCode("nclx")
          ? bytes.uint8(at: content + 10).map { $0 & 0x80 != 0 } : nil
        colour = Colour(
          primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: range)
      default: break
      }
      keep(box, of: bytes)
    }
  }
}
