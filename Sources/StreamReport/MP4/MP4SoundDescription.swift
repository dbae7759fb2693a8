// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// What the samples of a track of sound are: an entry of `stsd` (ISO/IEC 14496-12, 12.2.3).
  public struct SoundDescription: Sendable, Hashable {
    /// `channelcount`.
    public var channels: Int
    /// `samplerate`, in Hz; 0 for what does not fit the field.
    public var rate: Int
    /// `objectTypeIndication` of an `mp4a` entry: 0x40 is AAC, 0x69 and 0x6B are MP3; nil when it does not say.
    public var objectType: UInt8?

    /// Reads an `AudioSampleEntry`, QuickTime's longer versions of it too.
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
          if box.type == FourCharacterCode("esds") { objectType = Self.objectType(bytes, box.content) }
        }
      } catch {
        // What stood before was read.
      }
    }

    /// The first byte of a DecoderConfigDescriptor in an ES_Descriptor (ISO/IEC 14496-1, 7.2.6).
    private static func objectType(_ bytes: Span<UInt8>, _ content: Range<Int>) -> UInt8? {
      var place = content.lowerBound + 4
      guard skipHeader(bytes, &place, tag: 3), let flags = bytes.uint8(at: place + 2) else { return nil }
      place += 3
      if flags & 0x80 != 0 { place += 2 }
      if flags & 0x40 != 0 { place += 1 + Int(bytes.uint8(at: place) ?? 0) }
      if flags & 0x20 != 0 { place += 2 }
      guard skipHeader(bytes, &place, tag: 4), place < content.upperBound else { return nil }
      return bytes.uint8(at: place)
    }

    /// Goes behind a descriptor's tag and its length of one to four bytes. Answers whether it is the one.
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
