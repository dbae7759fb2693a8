// SPDX-License-Identifier: MPL-2.0

/// Reads the tags that an FLV file begins with (Adobe Flash Video File Format Specification, annex E; enhanced RTMP).
enum FlashVideo {
  /// Whether the first tag of video has H.265: by its number in enhanced FLV, or by 12, which others use.
  static func hasH265(in bytes: [UInt8]) -> Bool {
    guard bytes.count >= 9 else { return false }
    // The header has its own length. The size of the previous tag precedes each tag.
    var place = number(bytes[5..<9]) + 4
    while place + 16 <= bytes.count {
      let (type, size) = (bytes[place] & 0x1F, number(bytes[place + 1..<place + 4]))
      if type == 9, size > 4 {
        let first = bytes[place + 11]
        guard first & 0x80 != 0 else { return first & 0xF == 12 }
        let code = bytes[place + 12..<place + 16]
        return code.elementsEqual("hvc1".utf8) || code.elementsEqual("hev1".utf8)
      }
      place += size + 15
    }
    return false
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

extension InputFile {
  /// Whether it is FLV with H.265, which older versions of libavformat do not read.
  var hasFlashH265: Bool {
    guard kind == .container("FLV") else { return false }
    let front = pipe?.front ?? (try? InputBytes(self))?.read(at: 0, count: 1 << 16)
    return front.map(FlashVideo.hasH265) ?? false
  }
}
