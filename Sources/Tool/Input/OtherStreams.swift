// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import StreamReport

/// The streams of a container beside the video that is read (sound, subtitles, attachments), and the properties of
/// the whole container.
final class OtherStreams {
  /// A packet, and when its turn among others is.
  struct Packet: ~Copyable {
    var packet: MediaPacket
    let stream: StreamDescription
    /// In nanoseconds of the media, whose edits are applied.
    var time: Int64
    /// The packet's position in a transport stream, if its times may still have to follow the stream's clock.
    fileprivate var position: Int64?
  }

  let context: InputContext
  private let bytes: InputBytes
  /// The video's description, whose side data a copy also has; `nil` if libavformat does not find the video.
  let video: StreamDescription?
  let others: [StreamDescription]
  /// The streams in ``others`` that are chosen.
  let chosen: [StreamDescription]
  /// The number of the program that is read; `nil` if there are no programs.
  let program: Int?

  /// The place of the text track that has MP4's chapter titles.
  let chapterStream: Int?
  /// How pictures are turned, as info prints it; `nil` for upright pictures.
  let rotation: String?

  /// How MP4 and MOV describe the video; `nil` for other containers.
  let sampleEntry: MP4.VisualSampleDescription?

  let input: InputFile
  /// The ticks that MP4's edit lists add to the times of a stream.
  private let shifts: [Int: Int64]
  /// The end of a stream by its edit lists, in shifted ticks; nothing behind it is heard or shown.
  private let ends: [Int: Int64]
  /// The number of parts that MP4's edit lists show, if a stream has several. The whole stream is copied then.
  private let partCounts: [Int: Int]
  /// Continues the times of a transport stream; `nil` for other containers.
  private let clock: TransportClock?
  /// The position of each stream's last packet in the transport stream, and the packet's shifted end in nanoseconds.
  private var places: [Int: (position: Int64, end: Int64)] = [:]
  private var wanted: Set<Int> = []
  private var ahead: Packet?
  private var early = EarlySound()
  /// Packets that come before others are read.
  private var completed: [EarlySound.HeldPacket] = []
  /// The first headers of streams whose frames have headers that describe them.
  private let headers: [Int: SoundHeader]
  /// The time and the duration of the last packet of each stream, in its ticks. Without a decoder, the duration of
  /// MP4's last sample is not known. Most Matroska files have no packet with a known duration.
  private var latest: [Int: (time: Int64, duration: Int64)] = [:]
  /// The times of frames with headers, of which several may come with one time.
  private var clocks: [Int: FrameClock] = [:]
  /// The length of each stream's last frame: a frame in LATM may leave its header out.
  private var lengths: [Int: FrameClock.Length]
  /// How far the container was read, in the same time.
  private var reached = Int64.min
  private var isAtEnd = false
  /// Packets that have no time.
  private var untimed = 0
  /// The time at which reading ended before the end of the container, in the same time.
  private var damage: Int64?

  /// Losses of the chosen streams, for the user.
  var losses: [String] {
    var losses: [String] = []
    if untimed > 0 { losses.append("\(Text.count(untimed, "packet")) without a time") }
    if damage != nil { losses.append("sound and subtitles after the damage") }
    for (stream, count) in partCounts.sorted(by: { $0.key < $1.key }) where wanted.contains(stream) {
      losses.append("\(Text.count(count, "edit")) of stream \(stream), so all of it is heard or shown once")
    }
    return losses
  }

  /// Packets in which headers of sound are searched for.
  private static let trialCount = 100_000

  /// - Throws: a `Failure` if the container cannot be read.
  init(_ file: ContainerFile) throws(Failure) {
    let container = try ContainerInput.described(file)
    (input, context, bytes) = (container.input, container.context, container.bytes)
    clock = context.formatName.hasPrefix("mpeg") ? file.clock : nil
    let selection = file.input.selection
    try container.check(selection)
    headers = try Self.describeSound(of: container, file)
    lengths = headers.mapValues { FrameClock.Length($0) }
    let video = container.video
    // If there are several programs, only the program of the video is read.
    let program = container.context.programs.first { program in
      video.map { program.streams.contains($0.index) } ?? false
    }
    let others = container.context.streams.filter { stream in
      stream.index != video?.index
        && (selection.streams?.contains(stream.index) == true || program?.streams.contains(stream.index) != false)
    }
    let movie = Self.movie(container.input)
    // Encrypted streams are left out.
    let encrypted = Set((movie?.tracks ?? []).lazy.filter { ["enca", "enct"].contains($0.coding.name) }.map(\.id))
    (self.video, self.others) = (video, others)
    chosen = others.filter { stream in
      selection.includes(stream) && UInt32(exactly: stream.id).map(encrypted.contains) != true
    }
    self.program = program?.number
    let ranges = Self.shownRanges(container, movie)
    shifts = ranges.compactMapValues { $0.first.map { $0.time &- $0.start } }
    ends = ranges.compactMapValues { parts in
      guard parts.count == 1, let part = parts.first, let end = part.end else { return nil }
      return end &- part.start &+ part.time
    }
    partCounts = ranges.mapValues(\.count).filter { $0.value > 1 }
    let chapters = movie?.tracks.lazy.compactMap(\.chapterTrack).first
    chapterStream = chapters.flatMap { id in others.first { UInt32(exactly: $0.id) == id }?.index }
    let track = movie.flatMap { movie in video.flatMap { movie.videoTrack(at: $0.index) } ?? movie.videoTrack }
    sampleEntry = track?.video?.description
    rotation = movie == nil ? video?.rotationTag : StreamDetails.tag(track?.orientation)
  }

  /// Describes sound by the headers of its first frames if nothing else does.
  ///
  /// - Returns: the headers by which streams were described.
  private static func describeSound(
    of container: ContainerInput, _ file: ContainerFile
  ) throws(Failure) -> [Int: SoundHeader] {
    var missing = container.context.streams.filter {
      $0.kind == .audio && ($0.sampleRate == 0 || $0.channels == 0 || $0.codecName == "aac" && $0.extradata.isEmpty)
    }
    missing.removeAll { Self.describeOpus($0, of: container) }
    guard !missing.isEmpty else { return [:] }
    var found: [Int: SoundHeader] = [:]
    let trial = try ContainerInput(file, .packets)
    do throws(AVError) {
      var packet = try MediaPacket()
      for _ in 0..<trialCount {
        guard !missing.isEmpty, try trial.context.read(into: &packet) else { break }
        guard let stream = trial.context.stream(packet.stream),
          let place = missing.firstIndex(where: {
            $0.id == stream.id && $0.codecName.prefix(2) == stream.codecName.prefix(2)
          }),
          let header = SoundHeader.first(in: packet.copiedBytes(), codec: missing[place].codecName)
        else { continue }
        let index = missing.remove(at: place).index
        try container.context.describeSound(
          index, sampleRate: header.sampleRate, channels: header.channels, extradata: header.configuration)
        found[index] = header
      }
    } catch {
      // Streams without a description are left out.
    }
    return found
  }

  /// Describes Opus by its header (RFC 7845, 5.1), which libavformat makes of a transport stream's descriptor. It
  /// always has 48,000 samples a second.
  private static func describeOpus(_ stream: StreamDescription, of container: ContainerInput) -> Bool {
    let header = stream.extradata
    guard stream.codecName == "opus", header.starts(with: "OpusHead".utf8), header.count >= 19, header[9] > 0 else {
      return false
    }
    do throws(AVError) {
      try container.context.describeSound(
        stream.index, sampleRate: 48_000, channels: Int(header[9]), extradata: header)
    } catch { return false }
    return true
  }

  /// Whether frames of a stream have headers that other containers have not.
  func hasHeaders(_ stream: StreamDescription) -> Bool { headers[stream.index]?.length ?? 0 > 0 }

  private static func movie(_ input: InputFile) -> MP4.Movie? {
    guard input.kind == .container("MP4"), let source = try? InputBytes(input) else { return nil }
    return try? MP4.VideoSamples(source).movie
  }

  /// The ranges of each stream that MP4's edit lists show. libavformat is set to ignore edit lists.
  private static func shownRanges(_ container: ContainerInput, _ movie: MP4.Movie?) -> [Int: [MP4.ShownRange]] {
    guard let movie else { return [:] }
    var ranges: [Int: [MP4.ShownRange]] = [:]
    for stream in container.context.streams {
      let track = movie.tracks.first { $0.id == UInt32(exactly: stream.id) }
      ranges[stream.index] = track?.shownRanges(movieTimescale: movie.timescale)
    }
    return ranges
  }

  /// Chooses the streams whose packets are read. If there are none, nothing more is read.
  func choose(_ streams: [StreamDescription]) {
    wanted = Set(streams.map(\.index))
    if wanted.isEmpty { bytes.letGo() }
    for stream in context.streams {
      // For a pipe, the video's packets show how far it was read.
      let isMark = input.size == nil && stream.index == video?.index
      context.setWanted(isMark || wanted.contains(stream.index), stream: stream.index)
    }
  }

  /// Continues at a place in front of the selected part, as the reader of the video does.
  ///
  /// - Parameter time: of the presentation, in nanoseconds.
  /// - Returns: false if the place cannot be found. The position of the next packet is unknown then.
  func seek(to time: Int64) -> Bool {
    guard let video else { return true }
    // Subtitles may be shown for long. MP4 has an index of each stream.
    let isIndexed = input.kind == .container("MP4")
    guard isIndexed || !chosen.contains(where: { $0.kind == .subtitle }) else { return true }
    // All are sought by the video's index. Edit lists may shift each stream by any amount.
    let places = chosen.map { stream in
      time.subtractingReportingOverflow(stream.timeBase.nanoseconds(shifts[stream.index] ?? 0))
    }
    guard !places.contains(where: \.overflow) else { return false }
    let place = places.map(\.partialValue).min() ?? time
    do throws(AVError) {
      try context.seek(video.index, to: video.timeBase.rescaled(max(place, 0), from: .nanoseconds))
      return true
    } catch { return false }
  }

  /// The next packet whose turn is before a time; `nil` when there is none.
  func next(before time: Int64) throws(Failure) -> Packet? {
    guard !wanted.isEmpty else { return nil }
    while ahead == nil, !isAtEnd, !completed.isEmpty || reached < time { try read() }
    if let position = ahead?.position {
      guard clock?.isKnown(at: position) != false else { return nil }
      followClock()
    }
    guard let turn = ahead?.time, turn < time else { return nil }
    return ahead.take()
  }

  /// No more of the video is read: the clock is known up to the end of the file.
  func endVideo() { clock?.end() }

  /// Gives the next packet its times on the clock that continues, once.
  private func followClock() {
    guard let clock, var packet = ahead.take() else { return }
    if let position = packet.position {
      let (base, stream) = (packet.stream.timeBase, packet.stream.index)
      let shift = clock.shift(at: position, of: packet.time, expecting: places[stream]?.end)
      let ticks = base.rescaled(shift, from: .nanoseconds)
      packet.packet.presentation = packet.packet.presentation.map { $0 &+ ticks }
      packet.packet.decoding = packet.packet.decoding.map { $0 &+ ticks }
      packet.time = packet.time &+ shift
      packet.position = nil
      places[stream] = (position, packet.time &+ base.nanoseconds(packet.packet.duration))
      reached = max(reached, packet.time)
    }
    ahead = .some(consume packet)
  }

  /// When the first packet's turn is; `nil` without one.
  func firstTime() throws(Failure) -> Int64? {
    guard !wanted.isEmpty else { return nil }
    while ahead == nil, !isAtEnd { try read() }
    // In front of the first picture, there is no seam.
    return ahead?.time
  }

  /// How long a frame of sound lasts that may have neither time nor duration.
  private func length(of packet: borrowing MediaPacket, _ stream: StreamDescription) -> FrameClock.Length? {
    if stream.codecName == "opus" { return FrameClock.Length(opus: packet.copiedBytes()) }
    guard hasHeaders(stream) || stream.codecName == "aac_latm" else { return nil }
    if let header = SoundHeader(packet.copiedBytes(), codec: stream.codecName) {
      lengths[stream.index] = FrameClock.Length(header)
    }
    return lengths[stream.index]
  }

  private func read() throws(Failure) {
    if !completed.isEmpty {
      ahead = completed.removeFirst().packet.take()
      return
    }
    do throws(AVError) {
      var packet = try MediaPacket()
      guard try context.read(into: &packet) else {
        completed = early.finish(&untimed)
        isAtEnd = completed.isEmpty
        return
      }
      guard let stream = context.stream(packet.stream) else { return }
      if let length = length(of: packet, stream) {
        clocks[stream.index, default: FrameClock()].complete(&packet, length, stream.timeBase)
      }
      let isStated = packet.duration > 0
      let shift = shifts[stream.index] ?? 0
      packet.presentation = packet.presentation.map { $0 &+ shift }
      packet.decoding = packet.decoding.map { $0 &+ shift }
      guard let ticks = packet.decoding ?? packet.presentation else {
        guard wanted.contains(stream.index) else { return }
        let isEarly = clock == nil && stream.kind == .audio && latest[stream.index] == nil && !early.isFull
        if isEarly { early.hold(Packet(packet: packet, stream: stream, time: 0)) } else { untimed += 1 }
        return
      }
      if packet.duration <= 0, stream.kind == .audio, let last = latest[stream.index] {
        packet.duration = last.duration > 0 ? last.duration : max(0, ticks &- last.time)
      }
      latest[stream.index] = (ticks, isStated ? packet.duration : 0)
      if let end = ends[stream.index] {
        let begin = packet.presentation ?? ticks
        guard begin < end else {
          reached = max(reached, stream.timeBase.nanoseconds(ticks))
          return
        }
        packet.duration = min(packet.duration, end &- begin)
      }
      let time = stream.timeBase.nanoseconds(ticks)
      guard clock == nil else {
        guard wanted.contains(stream.index) else { return }
        // If a packet has several frames, the first frame has its position.
        let position = packet.position ?? places[stream.index]?.position ?? 0
        ahead = Packet(packet: packet, stream: stream, time: time, position: position)
        return
      }
      reached = max(reached, time)
      guard wanted.contains(stream.index) else { return }
      if early.holds(stream.index) {
        completed = early.take(Packet(packet: packet, stream: stream, time: time))
      } else {
        ahead = Packet(packet: packet, stream: stream, time: time)
      }
    } catch {
      guard error == .invalidData else { throw ContainerInput.failure(error, input) }
      (isAtEnd, damage) = (true, reached)
    }
  }
}
