// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import StreamReport

/// A report on the video stream of a container that GStreamer demultiplexes.
struct DemultiplexedReport {
  private let reader: MediaReader
  private let options: ReportOptions
  private var samples: AppSink.Iterator
  /// Made with the first sample, whose caps say how it is packaged.
  private var reporter: SampleReporter?
  private var container = StreamRecord.Container.other
  /// The sample that came with the latest caps.
  private var described: Sample?
  private var hasEnded = false
  /// The latest bytes of the stream, and the offset of the first of them.
  private var recent: [UInt8] = []
  private var origin: UInt64 = 0
  /// The most bytes in `recent`; a larger access unit is not kept whole.
  private static let recentLimit = 8 << 20

  init(_ file: InputFile, _ options: ReportOptions) async throws(Failure) {
    self.options = options
    reader = try MediaReader(file, parses: false) { stream, pipeline throws(PipelineError) in
      guard stream.codec != nil else { return nil }
      let sink = try PipelineElement("appsink", name: "samples", ["sync": false, "max-buffers": 64])
      try pipeline.add(sink)
      return sink
    }
    do throws(Failure) {
      try await reader.discover()
      do throws(PipelineError) {
        samples = try reader.pipeline.appSink("samples").makeAsyncIterator()
        try await reader.pipeline.play()
      } catch { throw reader.failure(error) }
    } catch {
      await reader.pipeline.stop()
      throw error
    }
  }

  /// The next item; `nil` after the summary.
  mutating func next() async throws(Failure) -> ReportItem? {
    while true {
      if let item = reporter?.next() { return item }
      guard !hasEnded else { return nil }
      let sample: Sample?
      do throws(PipelineError) { sample = try await samples.next() } catch {
        let failure = reader.failure(error)
        await stop()
        throw failure
      }
      if let sample {
        try feed(sample)
      } else {
        hasEnded = true
        guard reporter != nil else { throw reader.nothingFound }
        reporter?.finish()
        await stop()
      }
    }
  }

  func stop() async { await reader.pipeline.stop() }

  /// Recent bytes of the stream by their offset; `nil` when they are not kept any more.
  func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard offset >= origin, let start = Int(exactly: offset - origin), start <= recent.count,
      count <= recent.count - start
    else { return nil }
    return Array(recent[start..<start + count])
  }

  /// Appends to `recent`. When it is full, at least its older half is removed.
  private mutating func keep(_ bytes: [UInt8]) {
    if recent.count + bytes.count > Self.recentLimit {
      let surplus = min(recent.count, max(recent.count / 2, recent.count + bytes.count - Self.recentLimit))
      recent.removeFirst(surplus)
      origin += UInt64(surplus)
    }
    recent += bytes
  }

  /// Takes the configuration record of new caps.
  private mutating func configure(_ sample: Sample) throws(Failure) {
    guard let codec = reader.video?.codec else { throw reader.nothingFound }
    let configuration = sample.lengthPrefixedConfiguration(codec)
    if reporter == nil {
      container = StreamRecord.Container(caps: reader.containerCaps ?? "")
      // With a size, the offsets of MP4 are the file's.
      let size = container == .mp4 ? nil : reader.input.size.map { UInt64($0) }
      reporter = SampleReporter(codec, in: container, configuration: configuration, size: size, options: options)
    } else if let configuration, configuration != described?.lengthPrefixedConfiguration(codec) {
      reporter?.configure(configuration)
    }
    described = sample
  }

  private mutating func feed(_ sample: Sample) throws(Failure) {
    if described.map({ !$0.hasSameCaps(as: sample) }) ?? true { try configure(sample) }
    let attributes = sample.attributes
    // A PES packet without DTS has that of its PTS (ISO/IEC 13818-1, 2.4.3.7); tsdemux marks no random access points.
    let isPacket = container == .mpegTS
    let dts = attributes.dts ?? (isPacket ? attributes.pts : nil)
    let time = attributes.pts.map { pts in
      AccessUnitRecord.Sample(
        pts: Int64(clamping: pts.nanoseconds), dts: dts.map { Int64(clamping: $0.nanoseconds) },
        duration: UInt32(clamping: attributes.duration?.nanoseconds ?? 0),
        isSync: isPacket ? nil : !attributes.flags.contains(.deltaUnit))
    }
    do throws(FlowError) {
      let map = try sample.map()
      let bytes = unsafe map.bytes.withUnsafeBufferPointer { unsafe Array($0) }
      keep(bytes)
      reporter?.feed(bytes, time)
    } catch { throw Failure("\(reader.input.name): a sample could not be read (flow \(error.rawValue))") }
  }
}

extension Sample {
  fileprivate func hasSameCaps(as other: Sample) -> Bool {
    guard let caps, let others = other.caps else { return false }
    return caps.isEqual(to: others)
  }

  /// The configuration record of a stream with length prefixes, empty when it is missing; `nil` for start codes.
  ///
  /// The caps of AVI and of Matroska's VfW mapping do not say which it is.
  fileprivate func lengthPrefixedConfiguration(_ codec: FormatDescription.Codec) -> [UInt8]? {
    let format = capsField("stream-format")?.string
    if format == codec.syntax.byteStreamFormat { return nil }
    guard let record = codecData, !record.starts(with: [0, 0, 1]), !record.starts(with: [0, 0, 0, 1]) else {
      return format == nil ? nil : []
    }
    return record
  }

  /// The configuration record (avcC or hvcC) in the caps.
  var codecData: [UInt8]? {
    guard let caps, let buffer = caps.first.buffer("codec_data") else { return nil }
    do throws(FlowError) {
      let map = try buffer.map()
      return unsafe map.bytes.withUnsafeBufferPointer { unsafe Array($0) }
    } catch { return nil }
  }
}

extension StreamRecord.Container {
  /// The container with these caps of typefind.
  fileprivate init(caps: String) {
    self =
      switch String(caps.prefix { $0 != "," && $0 != ";" }) {
      case "video/quicktime": .mp4
      case "video/x-matroska", "video/webm": .matroska
      case "video/mpegts": .mpegTS
      case "video/x-flv": .flv
      case "video/x-msvideo": .avi
      default: .other
      }
  }
}
