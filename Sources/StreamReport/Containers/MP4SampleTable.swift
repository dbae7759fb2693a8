// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// One sample: an access unit of a video track.
  public struct Sample: Sendable, Hashable {
    /// The offsets of its bytes in the file, which may be beyond the end.
    public var range: Range<UInt64>
    /// Decoding time in ticks of the track's timescale.
    public var decodingTime: Int64
    /// Presentation time minus decoding time, in ticks.
    public var compositionOffset: Int64
    /// Duration in ticks.
    public var duration: UInt32
    /// Whether it is a sync sample.
    public var isSync: Bool
    /// The index of its sample description in ``MP4/Track/descriptions``, from 0.
    public var descriptionIndex: Int
  }

  /// The position of a table of entries of one size in the content of `moov`.
  struct Table: Sendable, Hashable {
    /// The offset of the first entry.
    var start = 0
    /// The number of whole entries.
    var count = 0
    /// The size of an entry in bytes.
    var stride = 1

    init() {}

    /// A table after `version`, `flags`, `prefix` more bytes and `entry_count`. Entries beyond the end of the box do
    /// not count.
    init(_ bytes: Span<UInt8>, _ content: Range<Int>, prefix: Int = 0, stride: Int) {
      self.stride = stride
      start = content.lowerBound + 8 + prefix
      let room = max(0, content.upperBound - start) / stride
      count = min(room, Int(clamping: bytes.uint32(at: start - 4) ?? 0))
    }

    /// The offset of an entry; nil after the last.
    func offset(_ index: Int) -> Int? { index >= 0 && index < count ? start + index * stride : nil }
  }

  /// Composition offsets at or below this number of ticks, which no stream needs, are taken for mistakes.
  static var lowestCompositionOffset: Int64 { -1 << 28 }

  /// The tables of a track's samples (`stbl`; ISO/IEC 14496-12, 8.5 to 8.7).
  struct SampleTable: Sendable, Hashable {
    /// `stts`: durations, run-length coded.
    var timeToSample = Table()
    /// `ctts`: composition offsets, run-length coded.
    var compositionOffsets = Table()
    /// `stsc`: samples of each chunk, run-length coded.
    var sampleToChunk = Table()
    /// `stsz` or `stz2`.
    var sizes = Table()
    /// `sample_size` of `stsz`; not 0 when all samples have that size.
    var uniformSize: UInt32 = 0
    /// `sample_count`.
    var sampleCount: UInt32 = 0
    /// Bits a size in `stz2`; 32 in `stsz`.
    var sizeBits = 32
    /// `stco` or `co64`.
    var chunkOffsets = Table()
    /// `stss`; nil if every sample is a sync sample.
    var syncSamples: Table?

    /// The smallest composition offset, at most 0.
    func smallestCompositionOffset(_ bytes: Span<UInt8>) -> Int64 {
      var smallest: Int32 = 0
      for index in 0..<compositionOffsets.count {
        guard let place = compositionOffsets.offset(index), let offset = bytes.uint32(at: place + 4) else { break }
        let signed = Int32(bitPattern: offset)
        if Int64(signed) > lowestCompositionOffset { smallest = min(smallest, signed) }
      }
      return Int64(smallest)
    }

    /// Reads the boxes in an `stbl`.
    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(ReadError) {
      var boxes = Boxes(bytes, in: content)
      while let box = try boxes.next() {
        switch box.type {
        case "stts": timeToSample = Table(bytes, box.content, stride: 8)
        case "ctts": compositionOffsets = Table(bytes, box.content, stride: 8)
        case "stsc": sampleToChunk = Table(bytes, box.content, stride: 12)
        case "stss": syncSamples = Table(bytes, box.content, stride: 4)
        case "stco": chunkOffsets = Table(bytes, box.content, stride: 4)
        case "co64": chunkOffsets = Table(bytes, box.content, stride: 8)
        case "stsz":
          uniformSize = bytes.uint32(at: box.content.lowerBound + 4) ?? 0
          sampleCount = bytes.uint32(at: box.content.lowerBound + 8) ?? 0
          sizes = Table(bytes, box.content, prefix: 4, stride: 4)
        case "stz2":
          sampleCount = bytes.uint32(at: box.content.lowerBound + 8) ?? 0
          sizeBits = Int(bytes.uint8(at: box.content.lowerBound + 7) ?? 0)
          guard [4, 8, 16].contains(sizeBits) else {
            throw ReadError(.unsupported, box.type, at: UInt64(box.range.lowerBound))
          }
          // Two entries of 4 bits are one byte, which counts as one entry here.
          sizes = Table(bytes, box.content, prefix: 4, stride: sizeBits == 16 ? 2 : 1)
        default: break
        }
      }
    }
  }
}

extension FourCharacterCode {
  /// Matches a code with a string literal in a `switch`.
  static func ~= (text: StaticString, code: FourCharacterCode) -> Bool {
    FourCharacterCode(text) == code
  }
}
