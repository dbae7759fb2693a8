// SPDX-License-Identifier: MPL-2.0

/// The times of the video in FLV files (Adobe Flash Video File Format Specification, annex E).
enum FlashTimes {
  /// The file with other times of presentation, in milliseconds, which must be in the same order.
  static func changed(_ file: [UInt8], _ new: (Int) -> Int) -> [UInt8] {
    var file = file
    var tag = number(file[5..<9]) + 4
    while tag + 16 <= file.count {
      let size = number(file[tag + 1..<tag + 4])
      if file[tag] == 9 {
        let decoding = number(file[tag + 4..<tag + 7])
        set(&file, tag + 4, new(decoding))
        // A picture has the distance from its time of decoding.
        if file[tag + 12] == 1 {
          set(&file, tag + 13, new(decoding + number(file[tag + 13..<tag + 16])) - new(decoding))
        }
      }
      tag += size + 15
    }
    return file
  }

  /// The file with the same times of presentation, and later times of decoding, in milliseconds: composition times may be
  /// below 0.
  static func decodedLater(_ file: [UInt8], by delay: Int) -> [UInt8] {
    var file = file
    var tag = number(file[5..<9]) + 4
    while tag + 16 <= file.count {
      let size = number(file[tag + 1..<tag + 4])
      if file[tag] == 9, file[tag + 12] == 1 {
        set(&file, tag + 4, number(file[tag + 4..<tag + 7]) + delay)
        set(&file, tag + 13, number(file[tag + 13..<tag + 16]) - delay)
      }
      tag += size + 15
    }
    return file
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  private static func set(_ file: inout [UInt8], _ place: Int, _ value: Int) {
    for index in 0..<3 { file[place + index] = UInt8(truncatingIfNeeded: value >> (16 - 8 * index)) }
  }
}
