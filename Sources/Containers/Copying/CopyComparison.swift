// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import AVFormat
import H26x
import SystemPackage

/// Finds everything beside the packets that a finished file lacks of its source. Both files are read, because muxers
/// leave unknown things out silently.
struct CopyComparison {
  /// The target's, as a whole.
  private let metadata: MetadataDictionary
  /// The streams of the target, without covers and attachments.
  private let streams: [StreamDescription]
  private let chapters: [Chapter]

  /// The comparison for a byte stream, which has nothing.
  init() { (metadata, streams, chapters) = (MetadataDictionary(), [], []) }

  /// - Returns: `nil` if the file cannot be read.
  init?(_ path: FilePath) {
    guard let input = try? InputFile(path), let file = try? ContainerFile(input, ReadingStatus()),
      let container = try? ContainerInput(file, .packets)
    else { return nil }
    self.init(container.context)
  }

  /// - Parameter front: the first bytes that were written into a pipe.
  /// - Returns: `nil` if they cannot be read.
  init?(_ front: [UInt8], _ container: TargetContainer) {
    var settings = InputContext.Settings()
    (settings.demuxer, settings.formats) = (container.demuxer, container.demuxer)
    (settings.parses, settings.probesStreams) = (false, false)
    guard let context = try? InputContext(KeptBytes(front), settings) else { return nil }
    self.init(context)
  }

  private init(_ target: InputContext) {
    // FLV has metadata in front of the first packet, and announces streams with theirs.
    if var packet = try? MediaPacket() { _ = try? target.read(into: &packet) }
    (metadata, chapters) = (target.metadata, target.chapters)
    streams = target.streams.filter { !$0.isCover && $0.kind != .attachment }
  }

  /// - Parameters:
  ///   - source: metadata of the source, as a whole.
  ///   - video: the source's video.
  ///   - unread: metadata of the video in the source that libavformat may not read.
  ///   - exceptions: metadata of the video that is no loss: the stream has it, too, or an edit has removed it.
  ///   - others: streams of the source that were kept, in the target's order.
  /// - Returns: a line for each kind, for the user.
  func losses(
    _ source: MetadataDictionary, _ video: StreamDescription?, _ unread: Set<SideData.Kind>,
    except exceptions: Set<SideData.Kind>, _ others: [StreamDescription]
  ) -> [String] {
    var losses: [String] = []
    let missing = Self.missing(source, in: metadata, or: streams.map(\.metadata))
    if !missing.isEmpty { losses.append("metadata (\(missing.joined(separator: ", ")))") }
    let sources = [video].compactMap(\.self) + others.filter { !$0.isCover && $0.kind != .attachment }
    for (place, stream) in sources.enumerated() {
      let copy = streams.indices.contains(place) ? streams[place].metadata : MetadataDictionary()
      let missing = Self.missing(stream.metadata, in: copy, or: [metadata, source])
      if !missing.isEmpty {
        losses.append("metadata of stream \(stream.index) (\(missing.joined(separator: ", ")))")
      }
      let kept = streams.indices.contains(place) ? streams[place].disposition : []
      let marks = Self.marks.filter { stream.disposition.subtracting(kept).contains($0.mark) }.map(\.name)
      if !marks.isEmpty { losses.append("marks of stream \(stream.index) (\(marks.joined(separator: ", ")))") }
    }
    let stated = unread.union(video?.sideData.map(\.kind) ?? []).subtracting(exceptions)
    let lost = stated.subtracting(streams.first?.sideData.map(\.kind) ?? [])
    losses += Self.names.filter { lost.contains($0.kind) }.map(\.name)
    if let video { losses += display(video) }
    return losses
  }

  /// Losses of sound in a rendition, for the user. The playlist has its title and its language.
  func losses(ofRendition stream: StreamDescription) -> [String] {
    let copy = streams.first
    let missing = Self.missing(stream.metadata, in: copy?.metadata ?? MetadataDictionary(), or: [metadata])
      .filter { !["title", "language"].contains($0.lowercased()) }
    return missing.isEmpty ? [] : ["metadata of stream \(stream.index) (\(missing.joined(separator: ", ")))"]
  }

  /// Losses of chapters that were written, for the user. In MP4 and MOV, the first chapter begins at 0, and each ends
  /// at the start of the next.
  func losses(_ written: [Chapter]) -> [String] {
    let missing = written.count - chapters.count
    guard missing <= 0 else { return [Text.count(missing, "chapter")] }
    let moved = zip(written, chapters).enumerated().count { place, pair in
      let (chapter, copy) = (pair.0.span, pair.1.span)
      return !Self.isClose(chapter.start, copy.start)
        || place < written.count - 1 && !Self.isClose(chapter.end, copy.end)
    }
    return moved > 0 ? ["the start and end of \(Text.count(moved, "chapter"))"] : []
  }

  /// Whether times are the same but for rounding to milliseconds.
  private static func isClose(_ left: Int64, _ right: Int64) -> Bool {
    left.subtractingReportingOverflow(right).partialValue.magnitude <= 1_000_000
  }

  /// Display properties of the source's container that neither the target nor the stream has.
  private func display(_ video: StreamDescription) -> [String] {
    let stream = Self.format(video)
    let copy = streams.first { $0.kind == .video }
    var losses: [String] = []
    let square = TimeBase(1, 1)
    let signalled = stream?.pixelAspectRatio.flatMap {
      TimeBase(Int32(clamping: $0.numerator), Int32(clamping: $0.denominator))
    }
    if let aspect = video.pixelAspect, ![copy?.pixelAspect, signalled ?? square].contains(aspect) {
      losses.append("pixel aspect ratio (\(aspect.numerator):\(aspect.denominator))")
    }
    let (colour, inStream) = (video.colour, stream?.colour)
    let codes = [colour.primaries, colour.transfer, colour.matrix]
    let kept = copy.map { [$0.colour.primaries, $0.colour.transfer, $0.colour.matrix] }
    let signalledCodes = [inStream?.primaries ?? 2, inStream?.transfer ?? 2, inStream?.matrix ?? 2]
    if codes.contains(where: { $0 != 2 }), codes != kept, codes != signalledCodes {
      losses.append("the container's colour (\(codes.map(String.init).joined(separator: ":")))")
    }
    if let isFull = colour.isFullRange, copy?.colour.isFullRange != isFull, stream?.isFullRange ?? false != isFull {
      losses.append("the container's range (\(isFull ? "full" : "limited"))")
    }
    return losses
  }

  /// The format in the parameter sets of a container's description; `nil` if it has none.
  private static func format(_ video: StreamDescription) -> FormatDescription? {
    ContainerInput.codec(video).flatMap { FormatDescription($0, configuration: video.extradata) }
  }

  /// Whether the target has a time code.
  var hasTimeCode: Bool { streams.contains { $0.metadata[key: "timecode"] != nil } }

  /// Keys that muxers write once, for a file as a whole or for a stream.
  private static let common: Set = ["creation_time", "timecode"]

  /// Keys of metadata that a copy lacks.
  ///
  /// - Parameter others: other places for metadata that is written once.
  static func missing(
    _ source: MetadataDictionary, in copy: MetadataDictionary, or others: [MetadataDictionary]
  ) -> [String] {
    let keys = Set(source.entries.map { $0.key.lowercased() })
    var missing: [String] = []
    for entry in source.entries {
      let key = withoutLanguage(entry.key.lowercased())
      // Skips a key with a language if the dictionary has it without one as well.
      guard !isOfTheContainer(key, entry.value), key.utf8.count == entry.key.utf8.count || !keys.contains(key),
        copy[key: key] == nil, copy[key: entry.key] == nil,
        !common.contains(key) || others.allSatisfy({ $0[key: key] == nil })
      else { continue }
      if !missing.contains(entry.key) { missing.append(entry.key) }
    }
    return missing
  }

  /// The name of a tag of Matroska, to which libavformat appends the tag's language: `title-eng`.
  private static func withoutLanguage(_ key: String) -> String {
    let end = key.utf8.suffix(4)
    guard key.utf8.count > 4, end.first == UInt8(ascii: "-"),
      end.dropFirst().allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
    else { return key }
    return String(key.dropLast(4))
  }

  /// Whether metadata belongs to the source's container or its muxer, not to the contents.
  private static func isOfTheContainer(_ key: String, _ value: String) -> Bool {
    key == "language"
      ? value == "und" : MetadataDictionary.own.contains(key) || ownKeys.contains(key) || key.hasPrefix("_statistics")
  }

  private static let ownKeys: Set = [
    "handler_name", "vendor_id", "bps", "bitsps", "number_of_frames", "number_of_bytes", "gstfiller", "aspectratiox",
    "aspectratioy", "metadatacreator", "creationdate", "service_name", "service_provider",
    // The arrangement of stereoscopic views is side data, too.
    "stereo_mode",
  ]

  /// Not `default`, which has a meaning only in containers that have a place for it.
  private static let marks: [(mark: StreamDescription.Disposition, name: String)] = [
    (.forced, "forced"), (.hearingImpaired, "for the hearing impaired"), (.visualImpaired, "for the visually impaired"),
    (.comment, "commentary"), (.original, "original language"), (.dub, "dubbed"),
  ]

  private static let names: [(kind: SideData.Kind, name: String)] = [
    (.dolbyVision, "the configuration of Dolby Vision"), (.stereo3D, "the arrangement of stereoscopic views"),
    (.spherical, "the projection of spherical pictures"), (.frameCropping, "cropping"),
    (.masteringDisplay, "the container's mastering display (HDR10)"),
    (.contentLight, "the container's content light level (HDR10)"),
  ]
}

extension Chapter {
  /// When it begins and ends, in nanoseconds.
  fileprivate var span: (start: Int64, end: Int64) { (timeBase.nanoseconds(start), timeBase.nanoseconds(end)) }
}

/// Bytes in memory.
private final class KeptBytes: IOSource {
  private let bytes: [UInt8]
  private(set) var position: Int64 = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var length: Int64? { Int64(bytes.count) }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
    let part = bytes.dropFirst(Int(clamping: position)).prefix(buffer.count)
    unsafe buffer.copyBytes(from: part)
    position += Int64(part.count)
    return part.count
  }

  func seek(to position: Int64) throws(AVError) {
    guard 0...Int64(bytes.count) ~= position else { throw .invalidArgument }
    self.position = position
  }
}

extension MetadataDictionary {
  /// The metadata that is true of a copy too.
  package var kept: MetadataDictionary {
    var kept = MetadataDictionary()
    for entry in entries where !Self.own.contains(entry.key.lowercased()) { kept[key: entry.key] = entry.value }
    return kept
  }

  /// Keys of metadata that muxers write about themselves and the file.
  package static let own: Set = ["major_brand", "minor_version", "compatible_brands", "encoder", "duration"]
}
