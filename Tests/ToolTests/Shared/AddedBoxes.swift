// SPDX-License-Identifier: MPL-2.0
import Foundation

/// Boxes that are added to MP4 files, whose movie box is the last.
enum AddedBoxes {
  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { box(Array(type.utf8), content) }

  private static func box(_ type: [UInt8], _ content: [UInt8]) -> [UInt8] {
    bytes(UInt32(content.count + 8)) + type + content
  }

  static func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

  /// Adds a box at the end of others, from the outermost on.
  static func add(_ new: [UInt8], to path: [String], of file: Data) -> Data {
    var (file, ranges, range) = (Array(file), [Range<Int>](), 0..<file.count)
    for name in path {
      // Fields in front of the boxes within: those of stsd, and of a VisualSampleEntry.
      guard let found = first(name, range, in: file) else { return Data() }
      ranges.append(found)
      range = found.lowerBound + (name == "stsd" ? 16 : sampleEntries.contains(name) ? 86 : 8)..<found.upperBound
    }
    for place in ranges.map(\.lowerBound) {
      file.replaceSubrange(place..<place + 4, with: bytes(UInt32(number(file, place) + new.count)))
    }
    file.insert(contentsOf: new, at: range.upperBound)
    return Data(file)
  }

  private static let sampleEntries: Set = ["avc1", "hvc1"]

  private static func number(_ file: [UInt8], _ place: Int) -> Int {
    file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func first(_ name: String, _ range: Range<Int>, in file: [UInt8]) -> Range<Int>? {
    var place = range.lowerBound
    while range.upperBound - place >= 8 {
      let box = place..<place + max(8, number(file, place))
      if file[place + 4..<place + 8].elementsEqual(name.utf8) { return box }
      place = box.upperBound
    }
    return nil
  }

  /// A sample entry of H.265.
  static let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "hvc1"]

  // MARK: Boxes of a sample entry

  /// A configuration of Dolby Vision, of level 6, with RPU and base layer.
  static func dolbyVision(_ type: String, profile: UInt8, compatibility: UInt8) -> [UInt8] {
    box(type, [1, 0, profile << 1, 6 << 3 | 5, compatibility << 4] + [UInt8](repeating: 0, count: 19))
  }

  /// Side by side.
  static let stereo = box("st3d", [0, 0, 0, 0, 2])
  static let spherical = box(
    "sv3d",
    box("svhd", [0, 0, 0, 0] + Array("meta\0".utf8))
      + box("proj", box("prhd", [UInt8](repeating: 0, count: 16)) + box("equi", [UInt8](repeating: 0, count: 20))))
  /// BT.2020 primaries, 1000 and 0.005 cd/m².
  static let masteringDisplay = box(
    "mdcv",
    [8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450].flatMap { (number: UInt32) in bytes(number).suffix(2) }
      + bytes(10_000_000) + bytes(50))
  static let contentLight = box("clli", bytes(1000 << 16 | 400))
  /// Apple's spatial video.
  static let spatial = box("vexu", box("eyes", box("stri", [0, 0, 0, 0, 3])))
  static let fieldOfView = box("hfov", bytes(90_000))

  /// An ICC profile, of a few bytes.
  static let profile = box("colr", Array("prof".utf8) + Array(1...20))
  /// A clean aperture of 300 by 160.
  static let aperture = box("clap", [300, 1, 160, 1, 0, 1, 0, 1].flatMap { (number: UInt32) in bytes(number) })

  // MARK: Metadata of FLV

  /// A script tag, with the number of its bytes behind it.
  static func flashMetadata(_ key: String, _ value: String) -> [UInt8] {
    func string(_ text: String) -> [UInt8] { bytes(UInt32(text.utf8.count)).suffix(2) + Array(text.utf8) }
    let data =
      [2] + string("onMetaData") + [8] + bytes(1) + string(key) + [2] + string(value) + [0, 0, 9]
    return [18] + bytes(UInt32(data.count)).suffix(3) + [0, 0, 0, 0, 0, 0, 0] + data + bytes(UInt32(data.count + 11))
  }

  /// An edit list of version 1: durations in ticks of the movie, media times in those of the track.
  static func edits(_ edits: [(duration: UInt64, mediaTime: Int64)]) -> [UInt8] {
    func long(_ number: UInt64) -> [UInt8] {
      bytes(UInt32(truncatingIfNeeded: number >> 32)) + bytes(UInt32(truncatingIfNeeded: number))
    }
    let list = edits.flatMap { edit -> [UInt8] in
      long(edit.duration) + long(UInt64(bitPattern: edit.mediaTime)) + [0, 1, 0, 0]
    }
    return box("edts", box("elst", [1, 0, 0, 0] + bytes(UInt32(edits.count)) + list))
  }

  /// The light of a living room.
  static let ambientViewing = box("amve", bytes(314_000) + bytes(15_635 << 16 | 16_450))

  // MARK: Boxes of the movie

  /// The boxes within `meta`: QuickTime's metadata. The value of each key is "Nobody".
  ///
  /// - Parameter first: the number of the first key that has a value, from 1.
  static func quickTimeMetadata(_ keys: String..., first: UInt32 = 1) -> [UInt8] {
    let handler = box("hdlr", bytes(0) + bytes(0) + Array("mdta".utf8) + [UInt8](repeating: 0, count: 13))
    let names = keys.flatMap { box("mdta", Array($0.utf8)) }
    let value = box("data", bytes(1) + bytes(0) + Array("Nobody".utf8))
    let items = (first...UInt32(keys.count)).flatMap { box(bytes($0), value) }
    return handler + box("keys", bytes(0) + bytes(UInt32(keys.count)) + names) + box("ilst", items)
  }

  /// One grey pixel.
  static let picture: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
    0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0, 0, 0, 0x82,
    0, 0x81, 0xDA, 0x45, 8, 0x3B, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  /// iTunes metadata: a title, and a cover of PNG.
  static let tags: [UInt8] = {
    let title = box([0xA9] + Array("nam".utf8), box("data", bytes(1) + bytes(0) + Array("Two cubes".utf8)))
    let cover = box("covr", box("data", bytes(14) + bytes(0) + picture))
    let handler = box("hdlr", bytes(0) + bytes(0) + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9))
    return box("udta", box("meta", bytes(0) + handler + box("ilst", title + cover)))
  }()
}
