// SPDX-License-Identifier: MPL-2.0
import StreamReport

extension InputFile {
  /// Whether the end of a container is missing, as far as its structure shows that. Never of a pipe or a byte stream.
  package var isCutOff: Bool {
    guard size != nil, case .container(let format) = kind else { return false }
    if format == .mp4 { return MP4Layout(of: self)?.isCutOff == true }
    guard let source = try? InputBytes(self) else { return false }
    return switch format {
    case .matroska: Self.endsInsideSegment(source)
    case .flv: Self.endsInsideTag(source)
    case .mpegTS: Self.endsInsidePacket(source)
    default: false
    }
  }

  // MARK: Matroska (RFC 8794, RFC 9559)

  /// Whether a segment continues behind the end. A segment whose size is unknown, as in a live stream, ends anywhere.
  private static func endsInsideSegment(_ source: InputBytes) -> Bool {
    var offset: UInt64 = 0
    // The header and a segment; few files have more, or something else.
    for _ in 0..<64 where offset < source.size {
      let front = source.read(at: offset, count: MatroskaElement.Header.maximumLength)
      guard let header = MatroskaElement.Header(front), let size = header.size else { return false }
      offset += UInt64(header.length)
      guard offset <= source.size else { return false }
      if size > source.size - offset { return header.id == MatroskaElement.segment }
      offset += size
    }
    return false
  }

  // MARK: FLV (Adobe Flash Video File Format Specification, annex E)

  /// More tags than a day has.
  private static let tagLimit = 1 << 23

  private static func endsInsideTag(_ source: InputBytes) -> Bool {
    // The size of the last tag is behind it.
    if source.size >= 28 {
      let last = UInt64(big(source.read(at: source.size - 4, count: 4)[...]))
      if last >= 11, last <= source.size - 17, let tag = tag(source, at: source.size - 4 - last),
        tag.size + 11 == last
      {
        return false
      }
    }
    // Some writers put other numbers there. The start of the last tag is searched for then.
    let header = source.read(at: 5, count: 4)
    guard header.count == 4 else { return false }
    var offset = UInt64(big(header[...])) + 4
    for _ in 0..<tagLimit where offset < source.size {
      guard let tag = tag(source, at: offset) else { return false }
      guard tag.isWhole, tag.size + 11 <= source.size - offset else { return true }
      offset += tag.size + 15
    }
    return false
  }

  /// The tag at a place: bytes of its data, and whether its header is whole; `nil` for something else.
  private static func tag(_ source: InputBytes, at offset: UInt64) -> (size: UInt64, isWhole: Bool)? {
    let header = source.read(at: offset, count: 11)
    guard let type = header.first, [8, 9, 18].contains(type & 0x1F) else { return nil }
    guard header.count == 11 else { return (0, false) }
    // The number of the stream is always 0.
    return big(header[8...]) == 0 ? (UInt64(big(header[1..<4])), true) : nil
  }

  private static func big(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  // MARK: MPEG-TS

  /// Whether the last packet is incomplete. Bytes may be missing before it, so packets are not counted.
  private static func endsInsidePacket(_ source: InputBytes) -> Bool {
    let count = min(source.size, 2048)
    return TransportStream.Packets.endsInsidePacket(source.read(at: source.size - count, count: Int(count)))
  }
}

/// The contents of the boxes at the top level of an MP4 file.
struct MP4Layout {
  /// Whether there is a `moof` box.
  private(set) var isFragmented = false
  /// Whether the file ends inside of a box that has samples or their tables.
  private(set) var isCutOff = false

  /// More boxes than a day of fragments has.
  private static let limit = 1 << 20

  /// `nil` for other files, and for pipes.
  init?(of input: InputFile) {
    guard input.kind == .container(.mp4), input.size != nil, let source = try? InputBytes(input) else { return nil }
    var offset: UInt64 = 0
    for _ in 0..<Self.limit where offset < source.size {
      let header = source.read(at: offset, count: 16)
      guard header.count >= 8 else { return }
      func number(_ range: Range<Int>) -> UInt64 { header[range].reduce(0) { $0 << 8 | UInt64($1) } }
      var size = number(0..<4)
      if size == 1, header.count == 16 { size = number(8..<16) }
      let type = header[4..<8]
      if type.elementsEqual("moof".utf8) { isFragmented = true }
      // 0 means up to the end of the file; less than a header means garbage.
      guard size >= 8 else { return }
      if size > source.size - offset {
        // Anything may stand behind the last box.
        isCutOff = ["moov", "moof", "mdat"].contains { type.elementsEqual($0.utf8) }
        return
      }
      offset += size
    }
  }
}
