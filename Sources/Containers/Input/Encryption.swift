// SPDX-License-Identifier: MPL-2.0
package import StreamReport

/// How samples of an MP4 track are encrypted (ISO/IEC 14496-12, 8.12; ISO/IEC 23001-7). They are not decrypted here.
package struct Encryption: Sendable, Hashable {
  /// The code of the scheme, such as `cenc`; `nil` if the file does not name it.
  let scheme: String?

  /// Schemes that make samples of any sample entry type unreadable: the four of ISO/IEC 23001-7, and PIFF's.
  private static let schemes: Set = ["cenc", "cens", "cbc1", "cbcs", "piff"]

  /// `nil` for samples that are as their codec has them.
  package init?(_ description: MP4.VisualSampleDescription) {
    let boxes = description.otherBoxes.filter { $0.type.name == "sinf" }
    let found = boxes.compactMap { Self.scheme(of: $0.bytes) }
    let scheme = found.first(where: Self.schemes.contains) ?? found.first
    guard description.coding.name == "encv" || scheme.map(Self.schemes.contains) == true else { return nil }
    self.scheme = scheme
  }

  /// The encryption of a track; `nil` if no sample description is of encrypted samples.
  package init?(_ track: MP4.Track) {
    guard let found = track.descriptions.lazy.compactMap({ Encryption($0) }).first else { return nil }
    self = found
  }

  /// `scheme_type` of the box `schm` in a box `sinf`.
  private static func scheme(of box: [UInt8]) -> String? {
    var boxes = MP4.Boxes(box.span, in: 8..<box.count)
    guard let type = boxes.firstIntact(FourCharacterCode("schm")), type.content.count >= 8 else { return nil }
    let code = box[type.content.lowerBound + 4..<type.content.lowerBound + 8]
    return FourCharacterCode(rawValue: code.reduce(0) { $0 << 8 | UInt32($1) }).name
  }

  /// Its name for the user.
  package var name: String { scheme ?? "unknown scheme" }
}

extension InputFile {
  /// The encryption of the selected video; `nil` if it has none, or if there is no box `moov`.
  package var encryption: Encryption? {
    guard kind == .container(.mp4), size != nil, let source = try? InputBytes(self), let movie = Self.movie(source)
    else { return nil }
    for (number, track) in movie.tracks.enumerated() where selection.streams?.contains(number) != false {
      if let found = Encryption(track) { return found }
      // This one is read.
      if track.video != nil { return nil }
    }
    return nil
  }

  /// The message that the video is encrypted; `nil` if it is not.
  var encryptionFailure: Failure? {
    encryption.map { Failure("\(name): it is encrypted (\($0.name)), and cannot be decoded or copied") }
  }

  /// The tracks, whatever their codecs are.
  private static func movie(_ source: InputBytes) -> MP4.Movie? {
    var offset: UInt64 = 0
    while offset < source.size {
      let header = source.read(at: offset, count: MP4.BoxHeader.maximumLength)
      guard let box = try? MP4.BoxHeader(header.span, at: 0, limit: source.size - offset) else { return nil }
      if box.type.name == "moov" {
        let size = box.size - UInt64(box.length)
        guard size <= MP4.VideoSamples.headerLimit else { return nil }
        return try? MP4.Movie(source.read(at: offset + UInt64(box.length), count: Int(size)))
      }
      offset += box.size
    }
    return nil
  }
}
