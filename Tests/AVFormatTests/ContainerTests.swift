// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import Testing

/// Containers, read and written through libavformat.
@Suite(.enabled(if: FormatLibrary.isAvailable)) struct ContainerTests {
  private struct Sample: Equatable {
    var stream: Int
    var presentation: Int64?
    var decoding: Int64?
    var duration: Int64
    var isKey: Bool
    var bytes: [UInt8]
  }

  private func samples(_ input: InputContext) throws -> [Sample] {
    var result: [Sample] = []
    var packet = try MediaPacket()
    while try input.read(into: &packet) {
      var bytes: [UInt8] = []
      for index in packet.bytes.indices { bytes.append(packet.bytes[index]) }
      result.append(
        Sample(
          stream: packet.stream, presentation: packet.presentation, decoding: packet.decoding,
          duration: packet.duration, isKey: packet.isKey, bytes: bytes))
    }
    return result
  }

  private func settings(_ format: String) -> InputContext.Settings {
    var settings = InputContext.Settings()
    settings.formats = format
    return settings
  }

  static let clips = [
    ("clip.mp4", "mov", "h264", 62), ("clip-h265.mp4", "mov", "hevc", 62), ("clip.mkv", "matroska", "h264", 62),
    ("clip-h265.mkv", "matroska", "hevc", 62), ("clip.ts", "mpegts", "h264", 62),
    ("clip-h265.ts", "mpegts", "hevc", 62),
    ("clip.flv", "flv", "h264", 62),
  ]

  @Test(arguments: clips) func readsClips(_ name: String, _ format: String, _ codec: String, _ count: Int) throws {
    let input = try InputContext(MemoryFile(clip: name), settings(format))
    #expect(input.formatName.contains(format))
    let video = try #require(input.streams.first { $0.kind == .video })
    // Without decoders, only headers have the size, before libavformat 61.
    let hasHeader = format == "mov" || format == "matroska"
    let sizes = hasHeader ? [[320, 180]] : [[0, 0], [320, 180]]
    #expect(video.codecName == codec && sizes.contains([video.size.width, video.size.height]))
    #expect(try samples(input).filter { $0.stream == video.index }.count == count)
  }

  /// Only the formats that are named are looked for.
  @Test func opensOnlyTheNamedFormats() throws {
    #expect(throws: AVError.invalidArgument) { try InputContext(MemoryFile(clip: "clip.mp4"), settings("matroska")) }
    #expect(throws: AVError.invalidData) { try InputContext(MemoryFile([1, 2, 3]), InputContext.Settings()) }
    #expect(throws: AVError.invalidData) { try InputContext(MemoryFile(), InputContext.Settings()) }
  }

  /// Video and sound, times, keyframes, metadata and chapters are in the copy as they are in the source.
  @Test(arguments: ["mp4", "mov", "matroska"]) func copiesVideoSoundMetadataAndChapters(_ format: String) throws {
    let input = try InputContext(MemoryFile(clip: "clip.mp4"), settings("mov"))
    let file = MemoryFile()
    let output = try OutputContext(file, format: format)
    for stream in input.streams {
      let index = try output.addStream(like: stream, of: input, extradata: nil, timeBase: stream.timeBase)
      #expect(index == stream.index)
    }
    var metadata = MetadataDictionary()
    metadata[key: "title"] = "Ünïcode"
    try output.set(metadata)
    let base = try #require(TimeBase(1, 1000))
    let chapter = Chapter(
      id: 1, timeBase: base, start: 0, end: 1000, metadata: MetadataDictionary(["title": "First"]))
    try output.add([chapter])
    #expect(try output.writeHeader(MetadataDictionary(["nonsense": "1"])).entries.map(\.key) == ["nonsense"])
    let source = try samples(input)
    for sample in source {
      var packet = try MediaPacket(copying: sample.bytes.span)
      let (from, to) = (
        try #require(input.stream(sample.stream)).timeBase, try #require(output.timeBase(of: sample.stream))
      )
      packet.stream = sample.stream
      packet.presentation = sample.presentation.map { to.rescaled($0, from: from) }
      packet.decoding = sample.decoding.map { to.rescaled($0, from: from) }
      packet.duration = to.rescaled(sample.duration, from: from)
      packet.isKey = sample.isKey
      try output.write(packet)
    }
    try output.finish()
    let copy = try InputContext(MemoryFile(file.bytes), settings(format == "matroska" ? "matroska" : "mov"))
    #expect(copy.metadata[key: "TITLE"] == "Ünïcode")
    #expect(copy.chapters.first?.metadata[key: "title"] == "First")
    let copied = try samples(copy)
    for stream in input.streams.indices {
      let (left, right) = (source.filter { $0.stream == stream }, copied.filter { $0.stream == stream })
      #expect(left.map(\.bytes) == right.map(\.bytes) && left.map(\.isKey) == right.map(\.isKey))
    }
  }

  /// Cut off anywhere, a file is an error, or has fewer samples; damaged anywhere, it has samples or is an error.
  @Test(arguments: clips) func endsWithAnErrorOrFewerSamples(
    _ name: String, _ format: String, _ codec: String, _ count: Int
  ) throws {
    let whole = try MemoryFile(clip: name).bytes
    for part in 0..<40 {
      let file = MemoryFile([UInt8](whole.prefix(whole.count * part / 40)))
      guard let input = try? InputContext(file, settings(format)) else { continue }
      let found = (try? samples(input))?.count ?? 0
      #expect(found <= 2 * count + 200)
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<40 {
      var bytes = whole
      for _ in 0..<20 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if let input = try? InputContext(MemoryFile(bytes), settings(format)) { _ = try? samples(input) }
    }
  }

  /// What the source or the sink fails with reaches the caller, wherever that is.
  @Test func reportsFailuresOfTheFile() throws {
    let whole = try MemoryFile(clip: "clip.mkv").bytes
    for part in 0..<20 {
      let file = MemoryFile(whole, isSeekable: false)
      file.failure = (Int64(whole.count * part / 20), .noDevice)
      #expect(throws: AVError.noDevice) {
        let input = try InputContext(file, settings("matroska"))
        _ = try samples(input)
      }
    }
    let input = try InputContext(MemoryFile(clip: "clip.mp4"), settings("mov"))
    let source = try samples(input)
    for part in 0..<10 {
      let file = MemoryFile()
      file.failure = (Int64(whole.count * part / 10), .noDevice)
      #expect(throws: AVError.noDevice) {
        let output = try OutputContext(file, format: "matroska")
        for stream in input.streams {
          _ = try output.addStream(like: stream, of: input, extradata: nil, timeBase: stream.timeBase)
        }
        _ = try output.writeHeader()
        for sample in source {
          var packet = try MediaPacket(copying: sample.bytes.span)
          (packet.stream, packet.presentation, packet.decoding) = (sample.stream, sample.presentation, sample.decoding)
          try output.write(packet)
        }
        try output.finish()
      }
    }
  }

  @Test func unknownFormatsAreErrors() throws {
    #expect(throws: AVError.self) { try OutputContext(MemoryFile(), format: "nonsense") }
    let output = try OutputContext(MemoryFile(), format: "mp4")
    #expect(throws: AVError.invalidArgument) { try output.finish() }
  }

  /// In each container that has an index, seeking leads to the keyframe at or before the time.
  @Test(arguments: ["clip.mp4", "clip.mkv"]) func seekingLeadsToTheKeyframeAtOrBeforeTheTime(_ name: String) throws {
    let input = try InputContext(MemoryFile(clip: name), InputContext.Settings())
    let video = try #require(input.streams.first { $0.kind == .video })
    let all = try samples(input).filter { $0.stream == video.index }
    let keys = all.filter(\.isKey)
    let last = try #require(keys.last?.presentation)
    try input.seek(video.index, to: last + 1)
    let first = try samples(input).first { $0.stream == video.index }
    #expect(first?.presentation == last && first?.isKey == true)
  }
}

/// Times in other ticks.
@Suite struct TimeBaseTests {
  @Test func rescalesTimesBetweenTimeBases() throws {
    let (film, milliseconds) = (try #require(TimeBase(1001, 24000)), try #require(TimeBase(1, 1000)))
    #expect(milliseconds.rescaled(1, from: film) == 42)
    #expect(film.rescaled(42, from: milliseconds) == 1)
    #expect(milliseconds.rescaled(-1, from: film) == -42)
    let half = try #require(TimeBase(1, 2))
    let whole = try #require(TimeBase(1, 1))
    #expect(
      whole.rescaled(1, from: half) == 1 && whole.rescaled(-1, from: half) == -1 && whole.rescaled(0, from: half) == 0)
    #expect(TimeBase.nanoseconds.rescaled(.max, from: whole) == .max)
    #expect(TimeBase.nanoseconds.rescaled(.min, from: whole) == .min)
    let (long, short) = (try #require(TimeBase(.max, 1)), try #require(TimeBase(1, .max)))
    #expect(short.rescaled(.max, from: long) == .max && long.rescaled(.max, from: short) == 2)
    #expect(TimeBase(0, 1) == nil && TimeBase(1, 0) == nil && TimeBase(-1, 1) == nil)
  }
}

/// Metadata and options.
@Suite struct MetadataDictionaryTests {
  @Test func comparesKeysWithoutCase() {
    var dictionary = MetadataDictionary(["Title": "a", "title": "b", "other": "c"])
    #expect(dictionary[key: "TITLE"] == "a")
    dictionary[key: "title"] = "d"
    #expect(dictionary.entries.map(\.value) == ["d", "c"])
    dictionary[key: "other"] = nil
    #expect(dictionary.entries.map(\.key) == ["title"])
    dictionary[key: "new"] = "e"
    #expect(dictionary[key: "new"] == "e" && dictionary[key: "missing"] == nil)
  }
}
