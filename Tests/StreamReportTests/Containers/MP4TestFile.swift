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
  /// `full_range_flag` of the `colr` box.
  var isFullRange = false
  /// A record of Dolby Vision, in a box of its type.
  var dolbyVision: DolbyVision.Configuration?
  /// The configuration record of a second sample description, and the first sample that has it, from 0.
  var second: (configuration: [UInt8], sample: Int)?
  /// Samples after the last one, in chunks of their own at the place of the first.
  var copies = 0
  var samples: [[UInt8]]
  /// The duration of each sample in ticks of a 2500th of a second.
  var duration: UInt32 = 100
  /// Composition offsets in ticks.
  var offsets: [UInt32]
  /// The sync samples, numbered from 1.
  var sync: [UInt32] = [1]
  /// `media_rate` of an edit that shows everything, in 1/65536; nil for no edit list.
  var editRate: UInt32?

  /// Makes a file of an H.264 stream of one slice a picture, in presentation order. Parameter sets go into
  /// the configuration record.
  init(_ stream: TestStream) {
    configuration = Self.configuration(stream)
    samples = stream.nalUnits.filter { ![7, 8].contains($0[0] & 31) }.map { Self.prefixed($0) }
    offsets = [UInt32](repeating: 0, count: samples.count)
  }

  /// The configuration record of a stream.
  static func configuration(_ stream: TestStream) -> [UInt8] {
    let sets = stream.nalUnits.filter { [7, 8].contains($0[0] & 31) }
    let (sps, pps) = (sets.filter { $0[0] & 31 == 7 }, sets.filter { $0[0] & 31 == 8 })
    var configuration: [UInt8] = [1] + (sps.first?[1...3] ?? [77, 0, 30]) + [0xFF, 0xE0 | UInt8(sps.count)]
    for set in sps { configuration += [0, UInt8(set.count)] + set }
    configuration.append(UInt8(pps.count))
    for set in pps { configuration += [0, UInt8(set.count)] + set }
    return configuration
  }

  static func prefixed(_ nalUnit: [UInt8]) -> [UInt8] { words(UInt32(nalUnit.count)) + nalUnit }

  var bytes: [UInt8] {
    let media = samples.flatMap(\.self)
    let count = UInt32(samples.count + copies)
    let offsets = offsets + [UInt32](repeating: 0, count: copies)
    // A chunk for each sample.
    var (chunks, position): ([UInt32], UInt32) = ([], 8)
    for sample in samples {
      chunks.append(position)
      position += UInt32(sample.count)
    }
    chunks += [UInt32](repeating: 8, count: copies)
    let sizes = samples.map { UInt32($0.count) } + [UInt32](repeating: UInt32(samples.first?.count ?? 0), count: copies)
    var entries = Self.box(coding, entry(configuration))
    var runs = [Self.words(1, 1, 1)]
    if let second {
      entries += Self.box(coding, entry(second.configuration))
      runs.append(Self.words(UInt32(second.sample) + 1, 1, 2))
    }
    let tables =
      Self.box("stsd", Self.words(0, UInt32(runs.count)) + entries)
      + Self.box("stts", Self.words(0, 1, count, duration))
      + Self.box("ctts", Self.words(0, count) + offsets.flatMap { Self.words(1, $0) })
      + Self.box("stss", Self.words(0, UInt32(sync.count)) + sync.flatMap { Self.words($0) })
      + Self.box("stsc", Self.words(0, UInt32(runs.count)) + runs.flatMap(\.self))
      + Self.box("stsz", Self.words(0, 0, count) + sizes.flatMap { Self.words($0) })
      + Self.box("stco", Self.words(0, count) + chunks.flatMap { Self.words($0) })
    let identity = Self.words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)
    let header =
      Self.words(7, 0, 0, 1, 0, 0, 0, 0, 0, 0) + identity + Self.words(UInt32(width) << 16, UInt32(height) << 16)
    let handler = Self.box("hdlr", Self.words(0, 0) + Array("vide".utf8) + Self.words(0, 0, 0))
    let mediaBox = Self.box(
      "mdia",
      Self.box("mdhd", Self.words(0, 0, 0, 2500, duration * count, 0)) + handler
        + Self.box("minf", Self.box("stbl", tables)))
    let edits = editRate.map { Self.box("edts", Self.box("elst", Self.words(0, 1, duration * count * 2 / 5, 0, $0))) }
    let movie =
      Self.box("mvhd", Self.words(0, 0, 0, 1000, 0))
      + Self.box("trak", Self.box("tkhd", header) + (edits ?? []) + mediaBox)
    return Self.box("mdat", media) + Self.box("moov", movie)
  }

  /// A `VisualSampleEntry`.
  private func entry(_ configuration: [UInt8]) -> [UInt8] {
    var entry = [UInt8](repeating: 0, count: 24) + Self.words(UInt32(width) << 16 | UInt32(height))
    entry += [UInt8](repeating: 0, count: 78 - entry.count) + Self.box("avcC", configuration)
    if let colour {
      let codes = colour.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8($0 & 255)] }
      entry += Self.box("colr", Array("nclx".utf8) + codes + [isFullRange ? 0x80 : 0])
    }
    if let dolbyVision { entry += Self.box("\(dolbyVision.boxType)", dolbyVision.bytes) }
    return entry
  }

  private static func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    words(UInt32(content.count + 8)) + Array(type.utf8) + content
  }
}
