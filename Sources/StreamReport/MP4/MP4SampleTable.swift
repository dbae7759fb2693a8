// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// One sample: an access unit of a video track.
  public struct Sample: Sendable, Hashable {
    /// Where its bytes are in the file. Not held against the file's end.
    public var range: Range<UInt64>
    /// When it is decoded, in the track's timescale.
    public var decodingTime: Int64
    /// When it is shown minus when it is decoded, in the track's timescale.
    public var compositionOffset: Int64
    /// How long it lasts, in the track's timescale.
    public var duration: UInt32
    /// Whether the file says that decoding can begin here.
    public var isSync: Bool
    /// Which sample description it has, counted from 0.
    public var descriptionIndex: Int
  }

  /// A table of entries of the same size that stands in a box, read where it stands.
  struct Table: Sendable, Hashable {
    /// Where the first entry is.
    var start = 0
    /// How many whole entries there are.
    var count = 0
    /// The entry's size in bytes.
    var stride = 1
    /// `version` of the box.
    var version: UInt8 = 0

    init() {}

    /// A table behind `version`, `flags`, `prefix` more bytes and an `entry_count`. Entries that the box does not hold
    /// do not count.
    init(_ bytes: Span<UInt8>, _ content: Range<Int>, prefix: Int = 0, stride: Int) {
      self.stride = stride
      version = bytes.uint8(at: content.lowerBound) ?? 0
      start = content.lowerBound + 8 + prefix
      let room = max(0, content.upperBound - start) / stride
      count = min(room, Int(clamping: bytes.uint32(at: start - 4) ?? 0))
    }

    /// Where an entry begins; nil behind the last.
    func offset(_ index: Int) -> Int? { index >= 0 && index < count ? start + index * stride : nil }
  }

  /// Where the samples of a track are and when they are due (`stbl`; ISO/IEC 14496-12, 8.5 to 8.7).
  struct SampleTable: Sendable, Hashable {
    /// `stts`: runs of durations.
    var timeToSample = Table()
    /// `ctts`: runs of composition offsets.
    var compositionOffsets = Table()
    /// `stsc`: runs of chunks.
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
    /// `stss`; nil when every sample is one.
    var syncSamples: Table?

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
          // Entries of 4 bits come in pairs: counted in bytes here.
          sizes = Table(bytes, box.content, prefix: 4, stride: sizeBits == 16 ? 2 : 1)
        default: break
        }
      }
    }
  }
}

extension FourCharacterCode {
  /// Lets a code stand in a `switch` as text.
  static func ~= (text: StaticString, code: FourCharacterCode) -> Bool {
    FourCharacterCode(text) == code
  }
}
