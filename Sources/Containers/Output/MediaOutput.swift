// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import AVFormat
package import H26x
import StreamReport

/// A container that is written through libavformat: one video track, and other streams as they are. A rendition of a
/// playlist has one stream, in segments.
package final class MediaOutput: ContainerOutput {
  /// The video, as the container is to describe it.
  package struct VideoFormat {
    package var codec: FormatDescription.Codec
    package var size = (width: 0, height: 0)
    /// Width to height of a pixel; `nil` if it is not known.
    package var pixelAspect: TimeBase?
    /// How long a picture lasts, in seconds; `nil` if that is not known.
    package var frameDuration: TimeBase?
    /// The frame rate that the source's container states; `nil` for none.
    var statedFrameRate: TimeBase?
    /// The configuration record; empty for a byte stream.
    package var configuration: [UInt8] = []
    package var allowsInBandParameterSets = false
    /// The properties that edits of the headers change, as far as containers repeat them.
    var edited: Set<StreamProperty> = []
    /// The colour that replaces the source's; `nil` to keep that.
    var colour: StreamDescription.Colour?
    /// The colour by the stream, for sources that state none.
    var sentColour: StreamDescription.Colour?
    /// HDR10's metadata by the stream, for sources that have none.
    var sentMetadata: [SideData] = []
    /// The configuration of Dolby Vision that the source's container states; `nil` for none.
    package var statedDolbyVision: DolbyVision.Configuration?
    /// The configuration of Dolby Vision by the stream.
    var sentDolbyVision: DolbyVision.Configuration?
    /// What becomes of these.
    package var dolbyVision = DolbyVisionRecord.copied
    /// Metadata that edits remove, which is no loss.
    package var removedMetadata: Set<RemovableMetadata> = []
    /// The payload of the message with the ambient viewing environment (`ambient_viewing_environment()`), which MP4 has
    /// as a box; `nil` without one.
    var sentAmbientViewing: [UInt8]?
    /// Whether ``pixelAspect`` replaces the source's.
    var hasEditedAspect = false
    /// The source's side data that is not true any more.
    var staleSideData: Set<SideData.Kind> = []
  }

  private let target: OutputFile
  private let container: TargetContainer
  private let output: OutputContext
  /// `nil` for segments.
  private let bytes: OutputBytes?
  /// `nil` for a container in one file.
  private let segments: SegmentFiles?
  /// The last packet for segments. Its duration is known with the next one: decoding times are sums of durations.
  private var held: MediaPacket?
  /// Whether a segment begins with the next packet.
  private var beginsSegment = false
  /// The place of the video; `nil` for a rendition of sound.
  private var video: Int?
  /// The places of the source's streams in the target, and whether frames lose their header.
  private var others: [Int: (index: Int, losesHeader: Bool, priming: Int64)] = [:]
  /// Packets of a stream that its one description does not fit, by its number in the source.
  private var changed: [Int: Int] = [:]
  /// Packets of a stream that lack the header by which its frames are read, by its number in the source.
  private var headless: [Int: Int] = [:]
  /// Pictures that are written with the header, and the streams for them.
  private var covers: [(index: Int, picture: [UInt8])] = []
  /// Converters of text subtitles whose codec the container does not hold.
  private var converters: [Int: SubtitleConverter] = [:]
  private var timeBases: [TimeBase] = []
  private var lastDecoding: [Int: Int64] = [:]
  /// Packets that were given to the muxer, by stream.
  private var given: [Int: Int] = [:]
  /// The first error with which the muxer refused a packet. It does not report which one.
  private var refusal: AVError?
  /// The decoding time of the video's first access unit, in its ticks: the beginning of the media.
  private var firstDecoding: Int64?

  /// Whether the source's time code applies to the first picture here, too.
  private let keepsTimeCode: Bool
  /// How many bytes of the file are free in front of the container.
  let room: Int64
  /// The streams that are written now, of another input than the first; `nil` while they are of the first.
  private var joined: JoinedOtherStreams?

  /// - Parameters:
  ///   - room: see ``room``.
  ///   - isTrial: whether nothing is written: shows whether the muxer takes streams.
  ///   - segments: the files of a rendition; `nil` for a container in one file.
  init(
    _ target: OutputFile, _ container: TargetContainer, keepsTimeCode: Bool, room: Int64 = 0, isTrial: Bool = false,
    segments: SegmentFiles? = nil
  ) throws(Failure) {
    (self.target, self.container, self.keepsTimeCode, self.room) = (target, container, keepsTimeCode, room)
    let bytes = try segments == nil ? OutputBytes(target, origin: room, isTrial: isTrial) : nil
    if !target.isSeekable { bytes?.frontLimit = .max }
    (self.bytes, self.segments) = (bytes, segments)
    let sink: (any IOSink)? = segments ?? bytes
    do throws(AVError) {
      guard let sink else { throw .bug }
      output = try OutputContext(sink, format: container.format)
    } catch { throw Self.failure(error, target) }
  }

  private static func failure(_ error: AVError, _ target: OutputFile) -> Failure {
    error == .notImplemented
      ? Failure("\(target.name): this container needs libavformat, which is not installed")
      : Failure("\(target.name): \(error)")
  }

  private func failure(_ error: AVError) -> Failure { Self.failure(error, target) }

  // MARK: Streams

  /// Whether the container can hold a stream, as it is or converted.
  func canHold(_ stream: StreamDescription, of source: InputContext) -> Bool {
    // libavformat writes fragments without the durations of subtitles.
    if isFragmented, stream.kind == .subtitle { return false }
    if stream.isCover {
      // libavformat writes moov of fragments before it has the cover.
      return !isFragmented && container.coverCodecs.contains(stream.codecName)
        && source.attachedPicture(stream.index) != nil
    }
    return canHold(stream) || converter(of: stream, source) != nil
  }

  /// The name of a source's stream in the container, for the user.
  func displayName(of stream: StreamDescription) -> String {
    if stream.isCover { return stream.summary }
    guard converters[stream.index] != nil, let target = container.subtitles else { return stream.displayName }
    return "\(stream.displayName) as \(target == .timedText ? "timed text" : "SubRip")"
  }

  var isFragmented: Bool { container.isMovie && !target.isSeekable || container == .hls }

  private func canHold(_ stream: StreamDescription) -> Bool {
    switch stream.kind {
    case .audio where stream.sampleRate == 0 || stream.channels == 0: return false
    case .audio, .subtitle: break
    case .attachment: return container == .mkv
    case .data where stream.isSensorData: return container.isMovie
    case .video, .data, .unknown: return false
    }
    // Which the muxer would write as private data.
    if container == .ts { return Self.transportCodecs.contains(stream.codecName) }
    return output.canHold(codecID: stream.codecID) == true
  }

  private func converter(of stream: StreamDescription, _ source: InputContext) -> SubtitleConverter? {
    if let converter = converters[stream.index] { return converter }
    guard let target = container.subtitles, SubtitleConverter.codecs.contains(stream.codecName) else { return nil }
    converters[stream.index] = try? SubtitleConverter(stream, of: source, to: target)
    return converters[stream.index]
  }

  /// Losses in conversion and writing, for the user.
  var losses: [String] {
    let count = others.keys.compactMap { converters[$0]?.failureCount }.reduce(0, +)
    var losses = count > 0 ? ["\(Text.count(count, "subtitle")) that cannot be read"] : []
    for (stream, count) in headless.sorted(by: { $0.key < $1.key }) {
      losses.append("\(Text.count(count, "packet")) of stream \(stream) without a frame header")
    }
    for (stream, count) in changed.sorted(by: { $0.key < $1.key }) {
      losses.append("\(Text.count(count, "packet")) of stream \(stream), in another format than the first packet")
    }
    for (stream, place) in others.sorted(by: { $0.key < $1.key }) where refusedCount(of: place.index) > 0 {
      let count = Text.count(refusedCount(of: place.index), "packet")
      losses.append("\(count) of stream \(stream), which \(container.name) does not take")
    }
    return losses
  }

  /// Sound and subtitles that ISO/IEC 13818-1 and its extensions have stream types for.
  private static let transportCodecs: Set = [
    "mp1", "mp2", "mp3", "aac", "aac_latm", "ac3", "eac3", "dts", "truehd", "opus", "dvb_subtitle", "dvb_teletext",
  ]

  /// Adds streams and writes the header.
  ///
  /// - Parameters:
  ///   - video: `nil` for a rendition of sound.
  ///   - source: has descriptions of the video and of others.
  ///   - streams: the kept streams of the source, which the container can hold.
  ///   - chapters: have times of the presentation.
  ///   - beginsLate: whether pictures are shown in front of the first one that is decoded.
  func begin(
    _ video: VideoFormat?, _ timeBase: TimeBase, _ source: OtherStreams?, keeping streams: [StreamDescription],
    _ chapters: [Chapter], beginsLate: Bool
  ) throws(Failure) {
    if let video, output.canHoldVideo(isHEVC: video.codec == .h265) == false {
      throw Failure("\(target.name): \(container.name) cannot hold \(video.codec.name)")
    }
    do throws(AVError) {
      if let video { self.video = try add(video, timeBase, source) }
      for stream in streams {
        guard let source else { break }
        if stream.isCover {
          try addCover(stream, of: source.context)
          continue
        }
        if !canHold(stream), let converter = converter(of: stream, source.context) {
          let index = try output.addStream(
            converter, like: stream, metadata: metadata(of: stream), timeBase: ticks(of: stream))
          others[stream.index] = (index, false, 0)
          continue
        }
        // AAC of transport streams has a header in each frame (ADTS). Other containers have one header for all.
        let losesHeader = container != .ts && source.sound.hasHeaders(stream)
        let isHeaded = container == .ts && source.sound.hasHeaders(stream)
        let index = try output.addStream(
          like: stream, of: source.context, extradata: isHeaded ? [] : nil,
          tag: stream.isSensorData ? StreamDescription.sensorTag : nil, metadata: metadata(of: stream),
          timeBase: ticks(of: stream))
        // Its description of PCM names the channels.
        if container == .mp4, stream.codecName.hasPrefix("pcm_") { try output.nameChannels(of: index) }
        others[stream.index] = (index, losesHeader, 0)
      }
      if let source {
        try output.set(kept(source.context.metadata))
        try output.add(chapters)
      }
      var options = container.options(timeBase, isFragmented: isFragmented, beginsLate: beginsLate)
      if container == .ts, let video {
        // libavformat 59 writes neither the record of Dolby Vision nor caption services.
        let captions = video.removedMetadata.contains(.captions) ? nil : source?.captionServices
        bytes?.programMap = ProgramMapRewriter(video.copiedDolbyVision, captions: captions?.content)
      } else if container == .mkv, let record = video?.copiedDolbyVision.flatMap({ MatroskaRecord($0) }) {
        bytes?.record = record
        // Checksums would be those of the muxer's bytes.
        options[key: "write_crc32"] = "0"
      }
      _ = try output.writeHeader(options)
      if let bytes, !target.isSeekable { bytes.frontLimit = Int(clamping: bytes.position) + Self.frontSize }
      timeBases = (0...others.count).map { output.timeBase(of: $0) ?? .nanoseconds }
      for cover in covers { try writeCover(cover.picture, to: cover.index) }
      for stream in streams {
        let priming = priming(of: stream)
        others[stream.index]?.priming = priming
      }
    } catch { throw failure(error) }
  }

  /// The requested ticks in the target.
  private func ticks(of stream: StreamDescription) -> TimeBase {
    // libavformat ends timed text if another stream's time is beyond its end, and compares ticks of both. These ticks
    // are finer than all others.
    guard container.isMovie, stream.kind == .subtitle else { return stream.timeBase }
    return TimeBase(1, 1_000_000) ?? stream.timeBase
  }

  private func addCover(_ stream: StreamDescription, of source: InputContext) throws(AVError) {
    guard let picture = source.attachedPicture(stream.index) else { return }
    let index: Int
    if container == .mkv, let metadata = stream.attachmentMetadata {
      index = try output.addAttachment(picture, like: stream, of: source, metadata: metadata)
    } else {
      index = try output.addCover(like: stream, of: source)
      covers.append((index, picture))
    }
    others[stream.index] = (index, false, 0)
  }

  private func writeCover(_ picture: [UInt8], to index: Int) throws(AVError) {
    var packet = try MediaPacket(copying: picture.span)
    packet.stream = index
    (packet.presentation, packet.decoding, packet.isKey) = (0, 0, true)
    try output.write(packet)
  }

  /// The offset of a stream's times in front of the container's times, in ticks of the target. libavformat reads
  /// Matroska's Opus with it. Since version 60, libavformat also writes it so.
  private func priming(of stream: StreamDescription) -> Int64 {
    guard container == .mkv, stream.codecName == "opus", FormatLibrary.version.map({ $0.major < 60 }) ?? false,
      let index = others[stream.index]?.index, let sample = TimeBase(1, 48_000)
    else { return 0 }
    return timeBases[index].rescaled(Int64(stream.priming), from: sample)
  }

  private func add(_ video: VideoFormat, _ timeBase: TimeBase, _ source: OtherStreams?) throws(AVError) -> Int {
    let index: Int
    if let source, let description = source.video {
      index = try output.addStream(
        like: description, of: source.context, extradata: video.configuration, tag: tag(video),
        size: video.size, metadata: metadata(of: description), without: video.staleSideData, timeBase: timeBase)
      if video.hasEditedAspect { try output.setPixelAspect(video.pixelAspect, of: index) }
      let metadata = [source.context.metadata, description.metadata]
      if container.isMovie, metadata.contains(where: { $0[key: "timecode"] != nil }),
        let rate = video.frameDuration.flatMap({ TimeBase($0.denominator, $0.numerator) }) ?? description.frameRate
      {
        try output.setFrameRate(rate, of: index)
      }
      // Matroska's DefaultDuration, if the source has one.
      if container == .mkv, let rate = video.statedFrameRate { try output.setFrameRate(rate, of: index) }
    } else {
      index = try output.addStream(
        OutputContext.Video(
          isHEVC: video.codec == .h265, size: video.size, pixelAspect: video.pixelAspect,
          extradata: video.configuration, tag: tag(video)),
        timeBase: timeBase)
      // Byte streams have one frame rate.
      if container == .mkv, let rate = video.frameDuration.flatMap({ TimeBase($0.denominator, $0.numerator) }) {
        try output.setFrameRate(rate, of: index)
      }
    }
    try describeDisplay(video, source?.video, index)
    return index
  }

  /// Describes how to display the video: as edited, as the source's container does, or as the stream does.
  private func describeDisplay(
    _ video: VideoFormat, _ source: StreamDescription?, _ index: Int
  ) throws(AVError) {
    var colour = video.colour ?? video.sentColour
    if video.colour == nil, var stated = source?.colour, !stated.isUnspecified {
      // MOV does not state the range.
      if stated.isFullRange == nil { stated.isFullRange = video.sentColour?.isFullRange }
      colour = stated
    }
    if let colour { try output.setColour(colour, of: index) }
    let stated = Set(source?.sideData.map(\.kind) ?? []).subtracting(video.staleSideData)
    // libavformat does not read the source's if it does not know the type of its box.
    let dolbyVision = video.copiedDolbyVision
    let sent = video.sentMetadata + [dolbyVision.map { SideData(.dolbyVision, $0.values) }].compactMap(\.self)
    for data in sent where !stated.contains(data.kind) { try output.add(data, to: index) }
  }

  private func kept(_ metadata: MetadataDictionary) -> MetadataDictionary {
    var kept = metadata.kept
    if !keepsTimeCode { kept[key: "timecode"] = nil }
    return kept
  }

  /// The metadata of a stream in the target.
  private func metadata(of stream: StreamDescription) -> MetadataDictionary {
    var metadata = kept(stream.metadata)
    if container == .mov, let language = metadata[key: "language"] {
      metadata[key: "language"] = Language.quickTime(language)
    }
    return metadata
  }

  /// The sample entry type of MP4 and MOV; other containers have their own names.
  private func tag(_ video: VideoFormat) -> OutputContext.CodecTag? {
    guard container.isMovie else { return nil }
    return switch (video.codec, video.allowsInBandParameterSets) {
    case (.h264, false): OutputContext.CodecTag("avc1")
    case (.h264, true): OutputContext.CodecTag("avc3")
    case (.h265, false): OutputContext.CodecTag("hvc1")
    case (.h265, true): OutputContext.CodecTag("hev1")
    }
  }

  /// Bytes behind the muxer's header that hold the rest of its descriptions.
  private static let frontSize = 1 << 20

  /// The first bytes that were written into a pipe, or the initialization of segments: all descriptions of streams and
  /// of the whole. Empty for a file.
  var front: [UInt8] { bytes?.front ?? segments?.initialization ?? [] }

  // MARK: Packets

  /// Continues with the streams of another input.
  func `continue`(with streams: JoinedOtherStreams) { joined = streams }

  /// The ticks of a stream in the target, by its place.
  func ticks(of index: Int) -> TimeBase { timeBases.indices.contains(index) ? timeBases[index] : .nanoseconds }

  /// Ends a segment. The next packet begins another one.
  func endSegment() { beginsSegment = true }

  /// Writes an access unit of the video.
  ///
  /// - Parameter accessUnit: has times of the presentation.
  func write(_ accessUnit: AccessUnit) throws(Failure) {
    guard let video else { return }
    let base = timeBases[video]
    do throws(AVError) {
      var packet = try MediaPacket(copying: accessUnit.bytes.span)
      packet.stream = video
      packet.presentation = base.rescaled(accessUnit.presentation, from: .nanoseconds)
      packet.decoding = base.rescaled(accessUnit.decoding, from: .nanoseconds)
      packet.duration = base.rescaled(accessUnit.duration, from: .nanoseconds)
      packet.isKey = accessUnit.isSync
      firstDecoding = firstDecoding ?? packet.decoding
      try write(packet)
    } catch { throw failure(error) }
  }

  /// The time in the video's media for a time of the presentation, in the video's ticks.
  func mediaTime(of presentation: Int64) -> Int64 {
    ticks(of: video ?? 0).rescaled(presentation, from: .nanoseconds) - (firstDecoding ?? 0)
  }

  /// Writes a packet of another stream.
  ///
  /// - Parameter zero: when the presentation begins, in nanoseconds of the source's media.
  func write(_ other: consuming OtherStreams.Packet, zero: Int64) throws(Failure) {
    let number = joined?.number(of: other.stream.index) ?? other.stream.index
    guard let place = others[number] else { return }
    let (from, to) = (other.stream.timeBase, timeBases[place.index])
    let origin = from.rescaled(zero, from: .nanoseconds)
    do throws(AVError) {
      var packet = other.packet
      if let converter = converters[number] {
        guard let converted = try converter.convert(packet) else { return }
        packet = converted
      }
      if joined.map({ container != .ts && $0.hasHeaders(number) }) ?? place.losesHeader {
        guard let header = SoundHeader(packet.copiedBytes(), codec: other.stream.codecName) else {
          headless[number, default: 0] += 1
          return
        }
        guard header.configuration == other.stream.extradata else {
          changed[number, default: 0] += 1
          return
        }
        packet.removeFirst(header.length)
      }
      packet.presentation = packet.presentation.map { to.rescaled($0 &- origin, from: from) &+ place.priming }
      packet.decoding = packet.decoding.map { to.rescaled($0 &- origin, from: from) &+ place.priming }
      packet.duration = to.rescaled(packet.duration, from: from)
      packet.stream = place.index
      try write(packet)
    } catch { throw failure(error) }
  }

  /// Muxers refuse times that do not ascend, which rounding to coarser ticks can make.
  private func write(_ packet: consuming MediaPacket) throws(AVError) {
    let index = packet.stream
    // Matroska allows blocks of equal time, such as sound whose frames are shorter than its ticks.
    let step: Int64 = container == .mkv && index != video ? 0 : 1
    if let time = packet.decoding, let last = lastDecoding[index], time < last + step { packet.decoding = last + step }
    if let time = packet.decoding {
      lastDecoding[index] = time
      if let presentation = packet.presentation, presentation < time { packet.presentation = time }
    }
    if let segments { try hold(packet, segments) } else { try give(packet) }
  }

  /// Holds a packet, and writes the one that was held.
  private func hold(_ packet: consuming MediaPacket, _ segments: SegmentFiles) throws(AVError) {
    let presentation = packet.presentation ?? packet.decoding ?? 0
    if var last = held.take() {
      if let time = last.decoding, let next = packet.decoding { last.duration = next &- time }
      try give(last)
      if beginsSegment {
        try output.writeFragment()
        // The first call may have written the initialization alone.
        if !segments.hasFragment { try output.writeFragment() }
        segments.beginSegment()
        beginsSegment = false
      }
    } else {
      // Fragments begin at the time of the first packet. Browsers ignore pauses in edit lists.
      if presentation >= 0 { try output.set("movflags", to: "+frag_discont") }
      segments.beginSegment()
    }
    segments.add(from: presentation, to: presentation &+ packet.duration)
    held = consume packet
  }

  private func give(_ packet: consuming MediaPacket) throws(AVError) {
    given[packet.stream, default: 0] += 1
    do throws(AVError) { try output.write(packet) } catch { try refuse(error) }
  }

  /// Continues behind a packet that the muxer refuses, such as damaged sound.
  private func refuse(_ error: AVError) throws(AVError) {
    guard !output.hasFailed, [.invalidData, .invalidArgument, .unsupportedFeature].contains(error) else { throw error }
    refusal = refusal ?? error
  }

  private func refusedCount(of index: Int) -> Int {
    refusal == nil ? 0 : (given[index] ?? 0) - output.takenPacketCount(of: index)
  }

  /// Writes the rest.
  ///
  /// - Parameter chapters: those that were not known when the header was written. It has none then.
  /// - Throws: a `Failure` if the muxer refused a picture.
  func finish(_ chapters: [Chapter] = []) throws(Failure) {
    do throws(AVError) {
      if let last = held.take() { try give(last) }
      // Each attempt gets rid of one packet.
      for _ in 0...given.values.reduce(0, +) {
        do throws(AVError) {
          try output.flush()
          break
        } catch { try refuse(error) }
      }
      if let refusal, let video, refusedCount(of: video) > 0 { throw refusal }
      try output.add(chapters)
      try output.finish()
      try bytes?.finish()
    } catch { throw failure(error) }
  }

  /// Whether a transport stream has the configuration of Dolby Vision.
  var hasDolbyVisionInProgramMap: Bool { bytes?.programMap?.hasRecord ?? false }
  /// Whether a transport stream has the caption services of the source.
  var hasCaptionServices: Bool { bytes?.programMap?.hasCaptionServices ?? false }
  /// Whether a Matroska file has all bits of the configuration of Dolby Vision, of which some are reserved.
  var hasWholeDolbyVision: Bool { bytes?.record?.isWritten ?? false }
}
