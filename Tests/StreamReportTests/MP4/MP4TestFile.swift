// SPDX-License-Identifier: MPL-2.0
import H26x

/// An MP4 of one track, written box by box, correct except for what a test changes.
struct MP4TestFile {
  var coding = "avc1"
  var configuration: [UInt8]
  var width = 32
  var height = 32
  /// Primaries, transfer and matrix of a `colr` box.
  var colour: [UInt16]?
  var samples: [[UInt8]]
  /// The duration of each sample in ticks of a 2500th of a second.
  var duration: UInt32 = 100
  /// Composition offsets in ticks.
  var offsets: [UInt32]
  /// The sync samples, numbered from 1.
  var sync: [UInt32] = [1]

  /// Makes a file of an H.264 stream of one slice a picture, in presentation order. Parameter sets go into
  /// the configuration record.
  init(_ stream: TestStream) {
    let sets = stream.nalUnits.filter { [7, 8].contains($0[0] & 31) }
    let (sps, pps) = (sets.filter { $0[0] & 31 == 7 }, sets.filter { $0[0] & 31 == 8 })
    configuration = [1] + (sps.first?[1...3] ?? [77, 0, 30]) + [0xFF, 0xE0 | UInt8(sps.count)]
    for set in sps { configuration += [0, UInt8(set.count)] + set }
    configuration.append(UInt8(pps.count))
    for set in pps { configuration += [0, UInt8(set.count)] + set }
    samples = stream.nalUnits.filter { ![7, 8].contains($0[0] & 31) }.map { Self.prefixed($0) }
    offsets = [UInt32](repeating: 0, count: samples.count)
  }

  static func prefixed(_ nalUnit: [UInt8]) -> [UInt8] { words(UInt32(nalUnit.count)) + nalUnit }

  var bytes: [UInt8] {
    let media = samples.flatMap(\.self)
    let count = UInt32(samples.count)
    var entry = [UInt8](repeating: 0, count: 24) + Self.words(UInt32(width) << 16 | UInt32(height))
    entry += [UInt8](repeating: 0, count: 78 - entry.count) + Self.box("avcC", configuration)
    if let colour {
      entry += Self.box(
        "colr", Array("nclx".utf8) + colour.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8($0 & 255)] } + [0])
    }
    let tables =
      Self.box("stsd", Self.words(0, 1) + Self.box(coding, entry)) + Self.box("stts", Self.words(0, 1, count, duration))
      + Self.box("ctts", Self.words(0, count) + offsets.flatMap { Self.words(1, $0) })
      + Self.box("stss", Self.words(0, UInt32(sync.count)) + sync.flatMap { Self.words($0) })
      + Self.box("stsc", Self.words(0, 1, 1, count, 1))
      + Self.box("stsz", Self.words(0, 0, count) + samples.flatMap { Self.words(UInt32($0.count)) })
      + Self.box("stco", Self.words(0, 1, 8))
    let identity = Self.words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)
    let header =
      Self.words(7, 0, 0, 1, 0, 0, 0, 0, 0, 0) + identity + Self.words(UInt32(width) << 16, UInt32(height) << 16)
    let handler = Self.box("hdlr", Self.words(0, 0) + Array("vide".utf8) + Self.words(0, 0, 0))
    let mediaBox = Self.box(
      "mdia",
      Self.box("mdhd", Self.words(0, 0, 0, 2500, duration * count, 0)) + handler
        + Self.box("minf", Self.box("stbl", tables)))
    let movie = Self.box("mvhd", Self.words(0, 0, 0, 1000, 0)) + Self.box("trak", Self.box("tkhd", header) + mediaBox)
    return Self.box("mdat", media) + Self.box("moov", movie)
  }

  private static func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    words(UInt32(content.count + 8)) + Array(type.utf8) + content
  }
}
