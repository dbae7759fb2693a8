// SPDX-License-Identifier: MPL-2.0

/// Boxes of MP4 whose times have 64 bits.
enum LongBoxes {
  private static let containers: Set = ["moov", "trak", "mdia", "moof", "traf"]

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
  }

  /// The boxes in a range: their types and ranges.
  private static func boxes(_ file: [UInt8], _ range: Range<Int>) -> [(type: String, range: Range<Int>)] {
    var (found, place): ([(String, Range<Int>)], Int) = ([], range.lowerBound)
    while range.upperBound - place >= 8 {
      let size = Int(number(file[place..<place + 4]))
      guard size >= 8, size <= range.upperBound - place else { break }
      found.append((String(decoding: file[place + 4..<place + 8], as: UTF8.self), place..<place + size))
      place += size
    }
    return found
  }

  /// The file, which ends with its movie box, with `mvhd`, `tkhd` and `mdhd` of version 1.
  static func converted(_ file: [UInt8]) -> [UInt8] {
    boxes(file, 0..<file.count).reduce(into: []) { $0 += converted(file, $1.type, $1.range) }
  }

  private static func converted(_ file: [UInt8], _ type: String, _ range: Range<Int>) -> [UInt8] {
    let content: [UInt8]
    if containers.contains(type) {
      content = boxes(file, range.lowerBound + 8..<range.upperBound).reduce(into: []) {
        $0 += converted(file, $1.type, $1.range)
      }
    } else if let between = ["mvhd": 4, "mdhd": 4, "tkhd": 8][type], file[range.lowerBound + 8] == 0 {
      // Version and flags; creation and modification; a timescale, or an id and a reserved field; the duration; the rest.
      let old = Array(file[range.lowerBound + 8..<range.upperBound])
      let times = [old[4..<8], old[8..<12]].flatMap { bytes(number($0), 8) }
      content =
        [1] + old[1..<4] + times + old[12..<12 + between] + bytes(number(old[12 + between..<16 + between]), 8)
        + old[(16 + between)...]
    } else {
      return Array(file[range])
    }
    return bytes(UInt64(content.count + 8), 4) + Array(type.utf8) + content
  }

  /// Makes the decoding times of fragments (`tfdt` of version 1) later. Returns how many there are.
  static func moveFragments(_ file: inout [UInt8], by ticks: UInt64) -> Int {
    var count = 0
    for fragment in boxes(file, 0..<file.count) where fragment.type == "moof" {
      for track in boxes(file, fragment.range.lowerBound + 8..<fragment.range.upperBound) where track.type == "traf" {
        for box in boxes(file, track.range.lowerBound + 8..<track.range.upperBound) where box.type == "tfdt" {
          let place = box.range.lowerBound + 12
          guard file[place - 4] == 1 else { continue }
          file.replaceSubrange(place..<place + 8, with: bytes(number(file[place..<place + 8]) + ticks, 8))
          count += 1
        }
      }
    }
    return count
  }

  /// How many boxes of a type the file has.
  static func count(_ type: String, in file: [UInt8]) -> Int { boxes(file, 0..<file.count).count { $0.type == type } }
}
