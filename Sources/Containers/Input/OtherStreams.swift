// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import AVFormat
import H26x
import StreamReport

/// The streams of a container beside the video that is read (sound, subtitles, attachments), and the properties of
/// the whole container.
package final class OtherStreams {
  /// A packet, and when its turn among others is.
  struct Packet: ~Copyable {
    var packet: MediaPacket
    let stream: StreamDescription
    /// In nanoseconds of the media, whose edits are applied.
    var time: Int64
    /// Whether the source's edit list hides it in front of the shown part, and no shown packet needs it.
    var isHidden = false
    /// The packet's position in a transport stream, if its times may still have to follow the stream's clock.
    fileprivate var position: Int64?
  }

  package let context: InputContext
  private let bytes: InputBytes
  /// The video's description, whose side data a copy also has; `nil` if libavformat does not find the video.
  package let video: StreamDescription?
  package let others: [StreamDescription]
  /// The streams in ``others`` that are chosen.
  let chosen: [StreamDescription]
  /// The number of the program that is read; `nil` if there are no programs.
  let program: Int?

  /// The place of the text track that has MP4's chapter titles.
  let chapterStream: Int?
  /// How pictures are turned, as info prints it; `nil` for upright pictures.
  package let rotation: String?

  /// How MP4 and MOV describe the video; `nil` for other containers.
  let sampleEntry: MP4.VisualSampleDescription?
  /// The boxes of that description but the configuration record, and what Matroska has in their place.
  let boxes: [MP4.VisualSampleDescription.WholeBox]
  /// QuickTime's metadata of the movie and of the video's track; see `MP4.Movie.metadata`.
  let quickTimeMetadata: (movie: [UInt8], track: [UInt8])

  /// The caption services by the program map of a transport stream; `nil` without them.
  package let captionServices: CaptionServiceDescriptor?

  /// The record of Dolby Vision that the container states; `nil` without one. libavformat does not read all bits of it,
  /// and does not know all profiles.
  var dolbyVision: DolbyVision.Configuration? { boxes.dolbyVision ?? video?.dolbyVision }

  package let input: InputFile
  private let edits: StreamEdits
  private(set) var sound: SoundClock
  /// Continues the times of a transport stream; `nil` for other containers.
  private let clock: TransportClock?

  // MARK: Reading

  /// The position of each stream's last packet in the transport stream, and the packet's shifted end in nanoseconds.
  private var places: [Int: (position: Int64, end: Int64)] = [:]
  private var wanted: Set<Int> = []
  private var ahead: Packet?
  private var early = EarlySound()
  /// Packets that come before others are read.
  private var completed: [EarlySound.HeldPacket] = []
  /// How far the container was read, in nanoseconds of the media.
  private var reached = Int64.min
  /// How reading ended; `nil` while there may be more.
  private var end: End?

  private enum End { case whole, damaged }

  /// Losses of the chosen streams, for the user.
  var losses: [String] {
    var losses: [String] = []
    if early.untimed > 0 { losses.append("\(Text.count(early.untimed, "packet")) without a time") }
    if end == .damaged { losses.append("sound and subtitles after the damage") }
    return losses + edits.losses(of: wanted)
  }

  /// - Throws: a `Failure` if the container cannot be read.
  package init(_ file: ContainerFile) throws(Failure) {
    let container = try ContainerInput.described(file)
    (input, context, bytes) = (container.input, container.context, container.bytes)
    clock = context.formatName.hasPrefix("mpeg") ? file.clock : nil
    let selection = file.input.selection
    try container.check(selection)
    sound = SoundClock(try container.describeSound(file))
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
    edits = StreamEdits(movie, of: container.context.streams)
    let chapters = movie?.tracks.lazy.compactMap(\.chapterTrack).first
    chapterStream = chapters.flatMap { id in others.first { UInt32(exactly: $0.id) == id }?.index }
    let track = movie.flatMap { movie in video.flatMap { movie.videoTrack(at: $0.index) } ?? movie.videoTrack }
    sampleEntry = track?.video?.description
    // libavformat reads some of them.
    let additions = video.flatMap { UnreadElements(container.input)?.boxes(of: $0.index) }
    boxes = sampleEntry?.otherBoxes ?? additions ?? []
    quickTimeMetadata = (movie?.metadata ?? [], track?.metadata ?? [])
    captionServices = Self.captionServices(container, file)
    rotation = movie == nil ? video?.rotationTag : StreamDescription.rotationTag(track?.orientation)
  }

  private static func captionServices(
    _ container: ContainerInput, _ file: ContainerFile
  ) -> CaptionServiceDescriptor? {
    guard file.input.kind == .container(.mpegTS), let stream = container.video?.id,
      let identifier = UInt16(exactly: stream)
    else { return nil }
    // Of a pipe, no more is read than was already.
    let limit = file.input.size == nil ? UInt64(clamping: container.bytes.position) : .max
    let bytes = file.bytes()
    defer { bytes.letGo() }
    return CaptionServiceDescriptor(ofStream: identifier, in: bytes, upTo: limit)
  }

  private static func movie(_ input: InputFile) -> MP4.Movie? {
    guard input.kind == .container(.mp4), let source = try? InputBytes(input) else { return nil }
    return try? MP4.VideoSamples(source).movie
  }

  /// Chooses the streams whose packets are read. If there are none, nothing more is read.
  package func choose(_ streams: [StreamDescription]) {
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
    let isIndexed = input.kind == .container(.mp4)
    guard isIndexed || !chosen.contains(where: { $0.kind == .subtitle }) else { return true }
    // All are sought by the video's index. Edit lists may shift each stream by any amount.
    let places = chosen.map { stream in
      time.subtractingReportingOverflow(stream.timeBase.nanoseconds(edits.shift(of: stream.index)))
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
    while ahead == nil, end == nil, !completed.isEmpty || reached < time { try read() }
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

  /// Drops packets up to the first one that is kept. Returns when its turn is; `nil` if that is at a time or later.
  func firstTime(before time: Int64, keeping isKept: (inout Packet) -> Bool) throws(Failure) -> Int64? {
    guard !wanted.isEmpty else { return nil }
    while true {
      while ahead == nil, end == nil, !completed.isEmpty || reached < time { try read() }
      // Otherwise, no seam is in front of it.
      if let position = ahead?.position, clock?.isKnown(at: position) == true { followClock() }
      guard var packet = ahead.take() else { return nil }
      let turn = packet.time
      guard turn >= time || isKept(&packet) else { continue }
      ahead = .some(consume packet)
      return turn < time ? turn : nil
    }
  }

  private func read() throws(Failure) {
    if !completed.isEmpty {
      ahead = completed.removeFirst().packet.take()
      return
    }
    do throws(AVError) {
      var packet = try MediaPacket()
      guard try context.read(into: &packet) else {
        completed = early.finish()
        end = completed.isEmpty ? .whole : nil
        return
      }
      guard let stream = context.stream(packet.stream) else { return }
      let isWanted = wanted.contains(stream.index)
      sound.complete(&packet, stream)
      let shift = edits.shift(of: stream.index)
      packet.presentation = packet.presentation.map { $0 &+ shift }
      packet.decoding = packet.decoding.map { $0 &+ shift }
      guard let ticks = packet.decoding ?? packet.presentation else {
        let isHeld = clock == nil && stream.kind == .audio && sound.isAtStart(stream)
        if isWanted { early.hold(Packet(packet: packet, stream: stream, time: 0), isHeld) }
        return
      }
      sound.completeDuration(of: &packet, at: ticks, stream)
      let time = stream.timeBase.nanoseconds(ticks)
      guard edits.clip(&packet, at: packet.presentation ?? ticks) else {
        reached = max(reached, time)
        return
      }
      // Of a transport stream, only the clock shows how far it was read.
      if clock == nil { reached = max(reached, time) }
      guard isWanted else { return }
      // If a packet has several frames, the first frame has its position.
      let position = clock.map { _ in packet.position ?? places[stream.index]?.position ?? 0 }
      if early.holds(stream.index) {
        completed = early.take(Packet(packet: packet, stream: stream, time: time))
      } else {
        let isHidden = edits.hides(packet, at: packet.presentation ?? ticks)
        ahead = Packet(packet: packet, stream: stream, time: time, isHidden: isHidden, position: position)
      }
    } catch {
      guard error == .invalidData else { throw ContainerInput.failure(error, input) }
      end = .damaged
    }
  }
}
