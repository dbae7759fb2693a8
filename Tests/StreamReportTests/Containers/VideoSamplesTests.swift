// SPDX-License-Identifier: MPL-2.0
import Foundation
import StreamReport
import Testing

@Suite("MP4 samples") struct VideoSamplesTests {
  @Test("Every sample of an MP4 with B-frames is read, with range and times")
  func readsEverySampleOfAnMP4() throws {
    var samples = try MP4.VideoSamples(BytesSource(file: media.appending(path: "clip.mp4")))
    #expect(samples.track.handler.name == "vide")
    #expect(samples.track.coding.name == "avc1")
    #expect(samples.track.descriptions.first?.configuration.first == 1)
    #expect(samples.track.rotation == 0)
    var all: [MP4.Sample] = []
    while let sample = try samples.next() { all.append(sample) }
    #expect(all.count == Int(samples.track.sampleCount))
    #expect(all.count == 62)
    #expect(all.first?.isSync == true)
    #expect(all.first?.range == 48..<4283)
    #expect(all[1].range == 4283..<4283 + 1920)
    // Decoding times ascend, presentation times are a permutation of evenly spaced ones.
    for (sample, next) in zip(all, all.dropFirst()) { #expect(next.decodingTime > sample.decodingTime) }
    let presentation = all.map { $0.decodingTime + $0.compositionOffset }.sorted()
    let steps = Set(zip(presentation, presentation.dropFirst()).map { $1 - $0 })
    #expect(steps.count == 1)
    // Each sample begins with the length of a NAL unit that fits.
    for sample in all {
      let bytes = samples.bytes(of: sample)
      #expect(UInt64(bytes.count) == sample.range.upperBound - sample.range.lowerBound)
      let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      #expect(length > 0 && length + 4 <= bytes.count)
    }
  }

  @Test("A file cut off anywhere gives an error or fewer samples, and never traps")
  func truncatedFilesNeverTrap() throws {
    let whole = try BytesSource(file: media.appending(path: "clip.mp4")).bytes
    for length in stride(from: 0, to: whole.count, by: 211) {
      do {
        var samples = try MP4.VideoSamples(BytesSource([UInt8](whole[..<length])))
        while let sample = try samples.next() { _ = samples.bytes(of: sample) }
      } catch {
        #expect(error.reason == .missing || error.reason == .truncated || error.reason == .badSize, "\(length)")
      }
    }
  }

  @Test("A changed byte anywhere in the movie box never traps")
  func damagedMovieBoxesNeverTrap() throws {
    let whole = try BytesSource(file: media.appending(path: "clip.mp4")).bytes
    let movie = try #require(place(of: "moov", in: whole))
    for offset in stride(from: movie, to: min(whole.count, movie + 4096), by: 1) {
      for value in [0, 0x7F, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[offset] = value
        do {
          var samples = try MP4.VideoSamples(BytesSource(bytes))
          var count = 0
          while count < 10_000, let sample = try samples.next() {
            #expect(sample.range.lowerBound <= sample.range.upperBound)
            count += 1
          }
        } catch {
          #expect(error.reason != .unreadable, "\(offset)")
        }
      }
    }
  }

  @Test("Fragments are read with and without defaults, and with and without a decoding time")
  func readsFragmentsWithAndWithoutDefaults() throws {
    // Two fragments: the first has a decoding time, the second continues from its end.
    let movie = movie(box("stsz", words(0, 0, 0)))
    let first = box(
      "moof",
      box(
        "traf",
        box("tfhd", words(0x02_0000, 1)) + box("tfdt", words(0, 9000))
          // data-offset, first-sample-flags, sizes.
          + box("trun", words(0x205, 2, 500, 0, 40, 50))))
    let second = box(
      "moof",
      box(
        "traf",
        box("tfhd", words(0, 1))
          // data-offset, durations, composition offsets, flags.
          + box("trun", words(0x0100_0D01, 2, 300, 1500, 0, UInt32(bitPattern: -1500), 1500, 0x1_0000, 0))))
    let file = movie + first + box("mdat", [1, 2, 3]) + second
    var samples = try MP4.VideoSamples(BytesSource(file))
    #expect(samples.track.language == "und")
    #expect(samples.movie.isFragmented)
    var all: [MP4.Sample] = []
    while let sample = try samples.next() { all.append(sample) }
    let start = UInt64(movie.count)
    let next = start + UInt64(first.count + 11)
    try #require(all.count == 4)
    #expect(
      all.map(\.range) == [
        start + 500..<start + 540, start + 540..<start + 590, next + 300..<next + 400, next + 400..<next + 500,
      ])
    #expect(all.map(\.decodingTime) == [9000, 12000, 15000, 16500])
    #expect(all.map(\.compositionOffset) == [0, 0, -1500, 0])
    #expect(all.map(\.isSync) == [true, false, true, false])
  }

  @Test("A track fragment without a base follows the one before, or begins with the movie fragment")
  func fragmentsWithoutABaseFollowTheOneBefore() throws {
    let movie = movie(box("stsz", words(0, 0, 0)))
    // 8.8.7.1: the sound has 30 and 12 bytes from offset 300 on, and 3 runs of the default size.
    let sound = box(
      "traf",
      box("tfhd", words(0x10, 2, 7)) + box("trun", words(0x301, 2, 300, 5, 30, 5, 12)) + box("trun", words(0, 3)))
    for (flags, base) in [(0, 300 + 42 + 21), (0x02_0000, 0)] as [(UInt32, UInt64)] {
      let video = box("traf", box("tfhd", words(flags, 1)) + box("trun", words(0x201, 2, 10, 40, 50)))
      var samples = try MP4.VideoSamples(BytesSource(movie + box("moof", sound + video)))
      let start = UInt64(movie.count) + base + 10
      #expect(try samples.next()?.range == start..<start + 40)
      #expect(try samples.next()?.range == start + 40..<start + 90)
      #expect(try samples.next() == nil)
    }
    // Sizes without end.
    let endless = box("traf", box("tfhd", words(0x10, 2, UInt32.max)) + box("trun", words(0, UInt32.max)))
    let fragment = box(
      "moof", endless + endless + endless + box("traf", box("tfhd", words(0, 1)) + box("trun", words(0, 1))))
    var samples = try MP4.VideoSamples(BytesSource(movie + fragment))
    #expect(throws: MP4.ReadError.self) { try samples.next() }
  }

  @Test("Damage in unneeded boxes and unknown durations are tolerated")
  func toleratesDamageInUnneededBoxes() throws {
    func samples(_ bytes: [UInt8]) throws -> MP4.VideoSamples { try MP4.VideoSamples(BytesSource(bytes)) }
    let whole = try BytesSource(file: media.appending(path: "clip.mp4")).bytes
    for type in ["elst", "pasp", "btrt", "colr"] {
      guard let place = place(of: type, in: whole) else { continue }
      var bytes = whole
      bytes.replaceSubrange(place..<place + 4, with: [0x7F, 0xFF, 0xFF, 0xFF])
      #expect(try samples(bytes).track.descriptions.first?.configuration.isEmpty == false, "\(type)")
    }
    #expect(place(of: "elst", in: whole) != nil)
    for type in ["mvhd", "mdhd"] {
      var bytes = whole
      let duration = try #require(place(of: type, in: whole)) + 8 + 16
      bytes.replaceSubrange(duration..<duration + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
      let read = try samples(bytes)
      #expect((type == "mvhd" ? read.movie.duration : read.track.duration) == 0)
      #expect((type == "mvhd" ? read.track.duration : read.movie.duration) > 0)
    }
  }

  @Test("A count of samples that the file has no bytes for is an error", arguments: [false, true])
  func tooManySamplesAreAnError(inFragment: Bool) throws {
    let tables =
      box("stsc", words(0, 1, 1, UInt32.max, 1)) + box("stsz", words(0, 1, UInt32.max)) + box("stco", words(0, 1, 0))
    let fragment = box("moof", box("traf", box("tfhd", words(0, 1)) + box("trun", words(0, UInt32.max))))
    let file = inFragment ? movie(box("stsz", words(0, 0, 0))) + fragment : movie(tables)
    var samples = try MP4.VideoSamples(BytesSource(file))
    var count = 0
    let error = #expect(throws: MP4.ReadError.self) {
      while count <= file.count, try samples.next() != nil { count += 1 }
    }
    #expect(error?.reason == .tooLarge && count == file.count)
  }

  @Test("Rotation and mirroring are read from the track header's matrix")
  func readsRotationAndMirroring() throws {
    let one: Int32 = 0x10000
    for (matrix, rotation, isMirrored) in [
      ([one, 0, 0, one], 0, false), ([0, one, -one, 0], 90, false), ([-one, 0, 0, -one], 180, false),
      ([0, -one, one, 0], 270, false),
      // Scaled, rounded.
      ([0, 2 * one, -2 * one, 0], 90, false), ([1, one - 1, -one, 2], 90, false), ([one, 0, 0, one / 2], 0, false),
      ([-one, 0, 0, one], 0, true), ([one, 0, 0, -one], 180, true), ([0, -one, -one, 0], 90, true),
      ([0, one, one, 0], 270, true),
      // Turned by 30 degrees, sheared, nothing at all.
      ([56756, 32768, -32768, 56756], nil, false), ([one, one, 0, one], nil, false), ([0, 0, 0, 0], nil, false),
      ([Int32.min, 0, 0, Int32.min], 180, false),
    ] as [([Int32], Int?, Bool)] {
      let whole = try BytesSource(file: media.appending(path: "clip.mp4")).bytes
      let header = try #require(place(of: "tkhd", in: whole))
      var bytes = whole
      for (index, entry) in zip([0, 1, 3, 4], matrix) {
        let value = UInt32(bitPattern: entry)
        // After size, type, version and flags, and 36 bytes of other fields.
        for byte in 0..<4 {
          bytes[header + 8 + 40 + 4 * index + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(byte)))
        }
      }
      let track = try MP4.VideoSamples(BytesSource(bytes)).track
      #expect(track.orientation?.rotation == rotation && track.orientation?.isMirrored ?? false == isMirrored)
      #expect(track.rotation == (isMirrored ? nil : rotation))
    }
  }

  /// `moov` of an H.264 track with this sample table, whose samples may be in fragments too: 100 bytes each by default.
  private func movie(_ tables: [UInt8]) -> [UInt8] {
    let description = box("avc1", [UInt8](repeating: 0, count: 78) + box("avcC", [1, 66, 0, 30, 255, 224, 0]))
    let media =
      box("mdhd", words(0, 0, 0, 90000, 0) + [0x55, 0xC4, 0, 0])
      + box("hdlr", words(0, 0) + text("vide") + words(0, 0, 0))
      + box("minf", box("stbl", box("stsd", words(0, 1) + description) + tables))
    let identity: [UInt8] = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)
    let header = words(7, 0, 0, 1, 0, 0) + words(0, 0, 0, 0) + identity + words(320 << 16, 240 << 16)
    return box(
      "moov",
      box("mvhd", words(0, 0, 0, 1000, 0)) + box("trak", box("tkhd", header) + box("mdia", media))
        + box("mvex", box("trex", words(0, 1, 1, 3000, 100, 0x1_0000))))
  }

  private func text(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

  private func words(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) } }
  }

  private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    words(UInt32(content.count + 8)) + text(type) + content
  }

  /// The offset of the first box of this type.
  private func place(of type: String, in bytes: [UInt8]) -> Int? {
    let code = text(type)
    return (4..<bytes.count - 4).first { [UInt8](bytes[$0..<$0 + 4]) == code }.map { $0 - 4 }
  }
}
