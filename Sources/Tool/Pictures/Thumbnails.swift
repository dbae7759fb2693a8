// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import StreamReport

/// Small pictures of keyframes for a report: a limited number of keyframes, spread over the stream, is decoded.
struct Thumbnails {
  /// The most pictures in a report, and the most bytes of all together.
  private static let limit = 48
  private static let byteLimit = 512 << 10
  /// The height of a picture in pixels.
  private static let height = 96
  /// The most bytes of a keyframe that gets a picture.
  private static let largest: UInt64 = 32 << 20
  /// The same if the bytes are kept in memory, because the stream cannot be read again.
  private static let largestKept: UInt64 = 2 << 20

  /// A picture of a report.
  struct Picture {
    let accessUnit: UInt64
    let jpeg: [UInt8]
  }

  private struct Keyframe {
    let accessUnit: UInt64
    let parameterSets: [[UInt8]]
    var nalUnits: [(offset: UInt64, size: Int)]
    /// Their bytes, if they cannot be read again.
    var bytes: [[UInt8]] = []
    var isField: Bool
  }

  private var stream: StreamRecord?
  /// The latest parameter sets: type, id, bytes.
  private var sets: [(type: UInt8, id: UInt8, bytes: [UInt8])] = []
  private var keyframes: [Keyframe] = []
  /// The number of keyframes so far; each of a number that is a multiple of `stride` is kept.
  private var count = 0
  private var stride = 1

  /// Keeps the data that decoding of keyframes needs.
  ///
  /// - Parameter items: the source of the item, which has the bytes of a demultiplexed stream.
  mutating func note(_ item: ReportItem, of items: ReportItems) {
    switch item {
    case .stream(let record): stream = record
    case .parameterSet(let record):
      let (type, id) = (record.nalUnit.type, record.nalUnit.parameterSetID ?? 0)
      sets.removeAll { $0.type == type && $0.id == id }
      sets.append((type, id, record.nalUnit.bytes))
    case .accessUnit(let accessUnit):
      if accessUnit.isSecondField, keyframes.last?.isField == true, keyframes.last?.accessUnit == accessUnit.index - 1 {
        keyframes[keyframes.count - 1].nalUnits += Self.places(accessUnit)
        keyframes[keyframes.count - 1].bytes += kept(accessUnit, items)
      } else if accessUnit.keyframe != .none, accessUnit.letter == UInt8(ascii: "I"),
        accessUnit.size <= (isReadAgain ? Self.largest : Self.largestKept)
      {
        add(accessUnit, items)
      }
    case .finding, .summary: break
    }
  }

  /// Keeps the keyframes whose number is a multiple of a stride, which doubles when there are too many.
  private mutating func add(_ accessUnit: AccessUnitRecord, _ items: ReportItems) {
    defer { count += 1 }
    guard count % stride == 0 else { return }
    if keyframes.count == Self.limit {
      keyframes = keyframes.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
      guard count % stride == 0 else { return }
    }
    // By type, so each set precedes the sets that refer to it: VPS, SPS, PPS.
    let sets = sets.sorted { $0.type < $1.type }.map(\.bytes)
    keyframes.append(
      Keyframe(
        accessUnit: accessUnit.index, parameterSets: sets, nalUnits: Self.places(accessUnit),
        bytes: kept(accessUnit, items),
        isField: accessUnit.isField))
  }

  /// Whether offsets of the report are offsets in the file.
  private var isReadAgain: Bool { stream?.container == .annexB || stream?.container == .mp4 && stream?.size != nil }

  private func kept(_ accessUnit: AccessUnitRecord, _ items: ReportItems) -> [[UInt8]] {
    accessUnit.nalUnits.compactMap { items.bytes(at: $0.offset, count: $0.size) }
  }

  private static func places(_ accessUnit: AccessUnitRecord) -> [(offset: UInt64, size: Int)] {
    accessUnit.nalUnits.map { ($0.offset, $0.size) }
  }

  /// Decodes the keyframes. There is no picture for one that cannot be decoded, and none at all for a byte stream from
  /// a pipe, which cannot be read again.
  func pictures(of input: InputFile) async throws(Failure) -> [Picture] {
    guard let stream, !keyframes.isEmpty, !isReadAgain || input.size != nil else { return [] }
    try PluginFile.load()
    let source = isReadAgain ? try InputBytes(input) : nil
    do throws(PipelineError) {
      let pipeline = try Self.pipeline(stream)
      let (frames, files) = (try pipeline.appSource("keyframes"), try pipeline.appSink("pictures"))
      try await pipeline.play()
      for keyframe in keyframes {
        var bytes: [UInt8] = []
        for set in keyframe.parameterSets { bytes += [0, 0, 0, 1] + set }
        for nalUnit in keyframe.bytes { bytes += [0, 0, 0, 1] + nalUnit }
        for place in keyframe.nalUnits {
          guard let read = source?.read(at: place.offset, count: place.size) else { break }
          bytes += [0, 0, 0, 1] + read
        }
        guard var buffer = Buffer(copying: bytes.span) else { continue }
        // The time identifies the access unit of a picture.
        buffer.pts = .seconds(keyframe.accessUnit)
        try await frames.send(buffer)
        // Decoders drain at the start of a stream, so each keyframe is decoded by itself. Otherwise, keyframes of one
        // sequence that are no IDR pictures would be put into the order of their POC, and wait for missing pictures.
        try frames.send(.streamStart("\(keyframe.accessUnit)"))
      }
      try frames.finish()
      let pictures = try await Self.read(files)
      await pipeline.stop()
      return pictures
    } catch {
      throw Failure(error, about: input.name)
    }
  }

  private static func read(_ files: AppSink) async throws(PipelineError) -> [Picture] {
    var pictures: [Picture] = []
    var (total, iterator) = (0, files.makeAsyncIterator())
    while let sample = try await iterator.next() {
      guard let time = sample.pts, let index = UInt64(exactly: time.nanoseconds / 1_000_000_000) else { continue }
      total += sample.size
      if total > byteLimit { break }
      do throws(FlowError) {
        let map = try sample.map()
        var jpeg: [UInt8] = []
        for place in 0..<map.bytes.count { jpeg.append(map.bytes[place]) }
        pictures.append(Picture(accessUnit: index, jpeg: jpeg))
      } catch { continue }
    }
    return pictures
  }

  private static func pipeline(_ stream: StreamRecord) throws(PipelineError) -> Pipeline {
    let codec = stream.codec
    let source = try PipelineElement(
      "appsrc", name: "keyframes",
      [
        "caps": .string(
          "\(codec.mediaType), stream-format=(string)\(codec.syntax.byteStreamFormat), alignment=(string)au"),
        "format": "time", "max-bytes": .int(64 << 20),
      ])
    let decoder = try PluginDecoder.make(codec)
    // A keyframe that cannot be decoded must not end the pipeline.
    try decoder.set("max-errors", -1)
    // One thread, so that draining after each keyframe costs little.
    try decoder.set("thread-type", "none")
    let size = "video/x-raw, height=(int)\(height), pixel-aspect-ratio=(fraction)1/1"
    return try Pipeline(
      linking: source, decoder, PipelineElement("videoconvert"),
      PipelineElement("videoflip", ["video-direction": .string(direction(stream.rotation ?? 0))]),
      PipelineElement("videoscale", ["add-borders": false]), PipelineElement("capsfilter", ["caps": .string(size)]),
      PipelineElement("videoconvert"), PipelineElement("jpegenc", ["quality": 75]),
      PipelineElement("appsink", name: "pictures", ["sync": false]))
  }

  private static func direction(_ degrees: Int) -> String {
    switch degrees {
    case 90: "90r"
    case 180: "180"
    case 270: "90l"
    default: "identity"
    }
  }
}

extension Thumbnails.Picture {
  /// The line of the report page for this picture (SCHEMA.md, `thumbnail`).
  var line: [UInt8] {
    var json = JSONText()
    json.open()
    json.member("kind", "thumbnail")
    json.member("accessUnit", accessUnit)
    json.member("image", string: "data:image/jpeg;base64,\(base64)")
    json.close()
    json.endLine()
    return json.bytes
  }

  /// The JPEG in base 64 (RFC 4648, 4).
  private var base64: String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in Swift.stride(from: 0, to: jpeg.count, by: 3) {
      let group = jpeg[start..<min(start + 3, jpeg.count)]
      let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? digits[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
