// SPDX-License-Identifier: MPL-2.0

/// A small MP4 of one track whose samples have one NAL unit each.
struct MP4Seed {
  let coding: String
  let configurationBox: String
  let configuration: [UInt8]
  let nalUnits: [[UInt8]]

  var bytes: [UInt8] {
    let samples = nalUnits.map { Self.words(UInt32($0.count)) + $0 }
    let count = UInt32(samples.count)
    let entry =
      [UInt8](repeating: 0, count: 24) + Self.words(64 << 16 | 64) + [UInt8](repeating: 0, count: 50)
      + Self.box(configurationBox, configuration)
    let tables =
      Self.box("stsd", Self.words(0, 1) + Self.box(coding, entry)) + Self.box("stts", Self.words(0, 1, count, 100))
      + Self.box("ctts", Self.words(0, 2, 1, 200, count, 0)) + Self.box("stss", Self.words(0, 1, 1))
      + Self.box("stsc", Self.words(0, 1, 1, count, 1))
      + Self.box("stsz", Self.words(0, 0, count) + samples.flatMap { Self.words(UInt32($0.count)) })
      + Self.box("stco", Self.words(0, 1, 8))
    let matrix = Self.words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)
    let header = Self.words(7, 0, 0, 1, 0, 0, 0, 0, 0, 0) + matrix + Self.words(64 << 16, 64 << 16)
    let media =
      Self.box("mdhd", Self.words(0, 0, 0, 2500, 100 * count, 0))
      + Self.box("hdlr", Self.words(0, 0) + Array("vide".utf8) + Self.words(0, 0, 0))
      + Self.box("minf", Self.box("stbl", tables))
    let track = Self.box("trak", Self.box("tkhd", header) + Self.box("mdia", media))
    return Self.box("mdat", samples.flatMap(\.self))
      + Self.box("moov", Self.box("mvhd", Self.words(0, 0, 0, 1000, 0)) + track)
  }

  private static func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    words(UInt32(content.count + 8)) + Array(type.utf8) + content
  }
}
