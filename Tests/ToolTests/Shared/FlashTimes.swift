// SPDX-License-Identifier: MPL-2.0

/// The times of FLV files (Adobe Flash Video File Format Specification, annex E).
enum FlashTimes {
  /// The file with other times of presentation of the video, in milliseconds, which must be in the same order.
  static func changed(_ file: [UInt8], _ new: (Int) -> Int) -> [UInt8] {
    var file = file
    for tag in pictures(of: file) {
      let decoding = number(file[tag + 4..<tag + 7])
      set(&file, tag + 4, new(decoding))
      // A picture has the distance from its time of decoding.
      if file[tag + 12] == 1 {
        set(&file, tag + 13, new(decoding + number(file[tag + 13..<tag + 16])) - new(decoding))
      }
    }
    return file
  }

  /// The file with the same times of presentation, and later times of decoding, in milliseconds: composition times may be
  /// below 0.
  static func decodedLater(_ file: [UInt8], by delay: Int) -> [UInt8] {
    var file = file
    for tag in pictures(of: file) where file[tag + 12] == 1 {
      set(&file, tag + 4, number(file[tag + 4..<tag + 7]) + delay)
      set(&file, tag + 13, number(file[tag + 13..<tag + 16]) - delay)
    }
    return file
  }

  /// The file with all times later by as many milliseconds, of which 32 bits are left.
  static func moved(_ file: [UInt8], by milliseconds: UInt32) -> [UInt8] {
    var file = file
    for tag in tags(of: file) {
      let time = UInt32(number(file[tag + 4..<tag + 7])) &+ UInt32(file[tag + 7]) << 24 &+ milliseconds
      set(&file, tag + 4, Int(time & 0xFF_FFFF))
      file[tag + 7] = UInt8(time >> 24)
    }
    return file
  }

  /// The places of the video's tags, in order: of its description, and of its pictures.
  static func pictures(of file: [UInt8]) -> [Int] { tags(of: file).filter { file[$0] == 9 } }

  private static func tags(of file: [UInt8]) -> [Int] {
    var (tags, tag): ([Int], Int) = ([], number(file[5..<9]) + 4)
    while tag + 16 <= file.count {
      tags.append(tag)
      tag += number(file[tag + 1..<tag + 4]) + 15
    }
    return tags
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  private static func set(_ file: inout [UInt8], _ place: Int, _ value: Int) {
    for index in 0..<3 { file[place + index] = UInt8(truncatingIfNeeded: value >> (16 - 8 * index)) }
  }
}
