// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// The sample description of an audio track: an entry of `stsd` (ISO/IEC 14496-12, 12.2.3).
  package struct SoundDescription: Sendable, Hashable {
    /// The number of channels: by the AudioSpecificConfig of AAC, else by `channelcount`, which is 2 in many files
    /// with other numbers of channels.
    package var channels: Int
    /// `samplerate` in Hz; 0 if it is too high for the field.
    package var rate: Int
    /// `objectTypeIndication` of an `mp4a` entry: 0x40 is AAC, 0x69 and 0x6B are MP3; nil without an `esds` box.
    package var objectType: UInt8?

    /// Reads an `AudioSampleEntry`, also in QuickTime's versions 1 and 2.
    init?(_ bytes: Span<UInt8>, _ entry: Box) {
      let start = entry.content.lowerBound
      guard let version = bytes.uint16(at: start + 8), let channels = bytes.uint16(at: start + 16),
        let rate = bytes.uint32(at: start + 24), start + 28 <= entry.content.upperBound
      else { return nil }
      self.channels = Int(channels)
      self.rate = Int(rate >> 16)
      let first = start + (version == 1 ? 44 : version == 2 ? 64 : 28)
      guard first < entry.content.upperBound else { return }
      var boxes = Boxes(bytes, in: first..<entry.content.upperBound)
      do throws(ReadError) {
        while let box = try boxes.next() {
          if box.type == FourCharacterCode("esds") { readDescriptors(bytes, box.content) }
        }
      } catch {
        // Keeps the values read before the damage.
      }
    }

    /// An ES_Descriptor with its DecoderConfigDescriptor and DecoderSpecificInfo (ISO/IEC 14496-1, 7.2.6).
    private mutating func readDescriptors(_ bytes: Span<UInt8>, _ content: Range<Int>) {
      var place = content.lowerBound + 4
      guard Self.skipHeader(bytes, &place, tag: 3), let flags = bytes.uint8(at: place + 2) else { return }
      place += 3
      if flags & 0x80 != 0 { place += 2 }
      if flags & 0x40 != 0 { place += 1 + Int(bytes.uint8(at: place) ?? 0) }
      if flags & 0x20 != 0 { place += 2 }
      guard Self.skipHeader(bytes, &place, tag: 4), place < content.upperBound else { return }
      objectType = bytes.uint8(at: place)
      place += 13
      guard objectType == 0x40, Self.skipHeader(bytes, &place, tag: 5), place < content.upperBound else { return }
      // It has fewer bytes.
      var configuration: [UInt8] = []
      for index in (place..<content.upperBound).prefix(64) { configuration.append(bytes.uint8(at: index) ?? 0) }
      if let channels = AudioSpecificConfig(configuration)?.channels, channels > 0 { self.channels = channels }
    }

    /// Skips a descriptor's tag and its length of one to four bytes. Returns whether the tag is `tag`.
    private static func skipHeader(_ bytes: Span<UInt8>, _ place: inout Int, tag: UInt8) -> Bool {
      guard bytes.uint8(at: place) == tag else { return false }
      place += 1
      for _ in 0..<4 {
        guard let byte = bytes.uint8(at: place) else { return false }
        place += 1
        if byte & 0x80 == 0 { return true }
      }
      return false
    }
  }
}
