// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import AVFormat
import GStreamer
import H26x
import StreamReport
import Synchronization

/// Reads the video track of a container through libavformat, neither cut nor completed by it.
final class ContainerVideoReader: VideoTrackReader {
  private(set) var track: VideoTrack
  private(set) var shown = ShownRange(start: 0, end: nil, time: 0)
  var parts: [ShownRange] { [shown] }
  var hidesFront: Bool { false }

  /// The time of the first packet of a transport or program stream, in nanoseconds; nil for others.
  private(set) var beginning: Int64?

  var position: Int64 { container.bytes.position }

  private let container: ContainerInput
  /// Continues the times of a transport stream; `nil` for them as they are.
  private let clock: TransportClock?
  private let index: Int
  private let timeBase: TimeBase
  private var packet: MediaPacket
  /// Whether `packet` is the next one.
  private var isAhead = true
  /// Aligns packets of a transport or program stream with access units; `nil` for other containers.
  private var alignment: PacketAlignment?
  /// The packet after the last sample, if that was needed to align it.
  private var following: (sample: VideoSample, position: Int64?)?
  /// Samples that were read ahead, and their positions in the file.
  private var waiting: [(sample: VideoSample, position: Int64?)] = []
  /// When the last sample is decoded by the file, in nanoseconds.
  private var lastDecoding: Int64?
  /// The greatest delay of the file's decoding time after the presentation time, in nanoseconds. It is above 0 if a
  /// writer of FLV has negative composition times; `nil` before the first sample.
  private var decodingShift: Int64?

  /// The times that the container has, if samples come without them.
  private(set) var known: KnownTimes?
  /// A sample that was read before ``known`` was there.
  private var ahead: VideoSample?

  /// More samples than can be reordered.
  private static let waitingLimit = 17

  /// Packets before the first of H.264 or H.265, in which a container without a header may announce it.
  private static let trialCount = 10_000

  /// - Parameter continuesClock: whether times continue when the clock of a transport stream restarts, and missing
  ///   decoding times are found.
  /// - Throws: a `Failure` if the file cannot be read, or has no H.264 or H.265 stream.
  init(_ file: ContainerFile, continuesClock: Bool = true) throws(Failure) {
    container = try ContainerInput(file, .packets)
    clock = continuesClock && Self.isPacketized(container.context) ? file.clock : nil
    do throws(AVError) { packet = try MediaPacket() } catch { throw ContainerInput.failure(error, file.input) }
    var found: StreamDescription?
    for _ in 0..<Self.trialCount {
      guard try Self.read(container, into: &packet) else { break }
      let chosen = container.video
      if let chosen, chosen.index == packet.stream {
        found = chosen
        break
      }
    }
    if found == nil, let announced = container.video, let codec = ContainerInput.codec(announced) {
      throw file.input.noPicture(codec)
    }
    guard let found, let codec = ContainerInput.codec(found) else {
      throw container.selectionFailure ?? Self.noVideo(container)
    }
    (index, timeBase) = (found.index, found.timeBase)
    track = Self.track(found, codec, isPacketized: Self.isPacketized(container.context))
    alignment = Self.isPacketized(container.context) ? PacketAlignment(codec) : nil
    for other in container.context.streams where other.index != index {
      container.context.setWanted(false, stream: other.index)
    }
    track.duration = container.context.duration.flatMap { UInt64(exactly: $0) }
      .map { ClockTime(nanoseconds: $0 &* 1000) }
    // Packets of a transport stream begin anywhere on the clock. Those of FLV begin below 0 if its clock restarts soon.
    let first = (packet.presentation ?? packet.decoding).map(found.timeBase.nanoseconds)
    let begins = Self.isPacketized(container.context) || container.context.formatName == "flv" && first ?? 0 < 0
    beginning = begins ? first : nil
    if let first = beginning {
      // Leading pictures of the first random access point are shown before it.
      shown = ShownRange(start: first &- 10_000_000_000, end: nil, time: 0)
    } else if Self.isPacketized(container.context), try !findsTime() {
      known = KnownTimes(first: 0)
    }
  }

  /// Whether one of the first packets has a time. Recordings of some cameras have none at all.
  private func findsTime() throws(Failure) -> Bool {
    while waiting.count < Self.waitingLimit, let read = try readSample() {
      waiting.append(read)
      if read.sample.composition != nil { return true }
    }
    return false
  }

  private static func noVideo(_ container: ContainerInput) -> Failure {
    if container.input.hasFlashH265 {
      return Failure(
        "\(container.input.name): FLV with H.265 video, which the installed libavformat does not read; that of FFmpeg "
          + "6.1 and newer reads enhanced FLV")
    }
    let found = container.context.streams.map { $0.codecName == "none" ? "an unknown codec" : $0.codecName }
      .joined(separator: ", ")
    return Failure(container.input.noVideo + (found.isEmpty ? "" : " (it has: \(found))"))
  }

  /// Whether the container cuts streams into packets anywhere.
  private static func isPacketized(_ context: InputContext) -> Bool { context.formatName.hasPrefix("mpeg") }

  private static func track(
    _ stream: StreamDescription, _ codec: FormatDescription.Codec, isPacketized: Bool
  ) -> VideoTrack {
    var track = VideoTrack(codec: codec, packaging: packaging(stream.extradata, isPacketized: isPacketized))
    track.dolbyVision = stream.dolbyVision
    track.hasMasteringDisplay = stream.sideData.contains { $0.kind == .masteringDisplay }
    track.size = stream.size
    track.pixelAspect = stream.pixelAspect.map { Fraction($0.numerator, $0.denominator) }
    track.framerate = isPacketized ? nil : stream.frameRate.map { Fraction($0.numerator, $0.denominator) }
    track.isFramerateStated = track.framerate != nil
    track.direction = stream.rotation
    track.colour = stream.colour
    track.timescale = stream.timeBase.numerator == 1 ? stream.timeBase.denominator : nil
    return track
  }

  /// Containers that allow both forms do not state which form they have.
  private static func packaging(_ extradata: [UInt8], isPacketized: Bool) -> VideoTrack.Packaging {
    let isRecord =
      extradata.count >= 7 && !extradata.starts(with: [0, 0, 1]) && !extradata.starts(with: [0, 0, 0, 1])
    guard isRecord, !isPacketized else { return .byteStream(isAligned: !isPacketized) }
    return .lengthPrefixed(configuration: extradata, allowsInBandParameterSets: false)
  }

  private static func read(_ container: ContainerInput, into packet: inout MediaPacket) throws(Failure) -> Bool {
    do throws(AVError) {
      // The last packet of a transport stream that is interrupted may be a part of a picture.
      return try container.context.read(into: &packet) && !container.status.isEnding
    } catch {
      switch error {
      // The rest of a damaged file is not there.
      case .invalidData, .endOfFile: return false
      case _ where container.status.isStopping: return false
      default: throw ContainerInput.failure(error, container.input)
      }
    }
  }

  // It does so in any case.
  func readAllMedia() {}

  /// Leaves out the times of samples, because some pictures have none. The parser then derives all times from the order
  /// of pictures and the frame rate. If the first picture has no time, the others keep theirs.
  ///
  /// - Parameter frameRate: the frame rate of a stream that has none.
  func leaveTimesOut(frameRate: Fraction?) throws(Failure) {
    guard known == nil else {
      track.framerate = track.framerate ?? frameRate
      return
    }
    guard let sample = try next(), let time = sample.composition else { return }
    (ahead, known) = (sample, KnownTimes(first: time))
    track.framerate = track.framerate ?? frameRate
  }

  func next() throws(Failure) -> VideoSample? {
    guard let known else { return try nextTimed() }
    let next = if let sample = ahead.take() { sample } else { try nextTimed() }
    guard var sample = next else { return nil }
    if let time = sample.composition { known.add(time) }
    (sample.composition, sample.decoding) = (nil, nil)
    return sample
  }

  private func nextTimed() throws(Failure) -> VideoSample? {
    guard let (read, position) = try waiting.isEmpty ? readSample() : waiting.removeFirst() else { return nil }
    var sample = read
    guard let clock else {
      sample.decoding = try decodingTimeInFront(of: sample)
      return sample
    }
    sample.decoding = try decodingTime(of: sample)
    lastDecoding = sample.decoding ?? lastDecoding
    let shift = clock.take(at: position, decoding: sample.decoding, presentation: sample.composition)
    sample.composition = sample.composition.map { $0 &+ shift }
    sample.decoding = sample.decoding.map { $0 &+ shift }
    return sample
  }

  private func readSample() throws(Failure) -> (sample: VideoSample, position: Int64?)? {
    let next = if let packet = following.take() { packet } else { try readPacket() }
    guard var read = next, let end = alignment?.takeEnd(of: &read.sample), !end.isEmpty else { return next }
    following = try readPacket()
    if let packet = following?.sample, PacketAlignment.begins(packet, after: read.sample) {
      following?.sample.bytes.insert(contentsOf: end, at: 0)
    } else {
      read.sample.bytes += end
    }
    return read
  }

  private func readPacket() throws(Failure) -> (sample: VideoSample, position: Int64?)? {
    repeat {
      if !isAhead, try !Self.read(container, into: &packet) { return nil }
      isAhead = false
    } while packet.stream != index
    var packaging: VideoTrack.Packaging?
    if let data = packet.sideData.first(where: { $0.kind == .newExtradata }) {
      let changed = Self.packaging(data.bytes, isPacketized: Self.isPacketized(container.context))
      if changed != track.packaging, !losesFormat(changed) {
        packaging = changed
        track.packaging = changed
      }
    }
    let sample = VideoSample(
      bytes: packet.copiedBytes(), composition: packet.presentation.map(timeBase.nanoseconds),
      decoding: packet.decoding.map(timeBase.nanoseconds), duration: timeBase.nanoseconds(packet.duration),
      isSync: packet.isKey, packaging: packaging)
    return (sample, packet.position)
  }

  /// Whether a description that can be read gives way to one that cannot, as if a tag of FLV is damaged.
  private func losesFormat(_ changed: VideoTrack.Packaging) -> Bool {
    func isReadable(_ packaging: VideoTrack.Packaging) -> Bool {
      packaging.configuration.map { FormatDescription(track.codec, configuration: $0) != nil } ?? false
    }
    return isReadable(track.packaging) && !isReadable(changed)
  }

  /// When a sample of a transport stream is decoded. Without DTS that is its PTS (ISO/IEC 13818-1, 2.4.3.7), which
  /// libavformat has in its place. Some writers leave DTS out even if pictures are reordered. The samples that are
  /// decoded after it and have earlier times show that.
  private func decodingTime(of sample: VideoSample) throws(Failure) -> Int64? {
    guard let time = sample.decoding, time == sample.composition else { return sample.decoding }
    var least = time
    for place in 0..<Self.waitingLimit {
      if place == waiting.count {
        guard let read = try readSample() else { break }
        waiting.append(read)
      }
      let (next, lowest) = (waiting[place].sample, lastDecoding ?? time &- 1_000_000_000)
      // A sample that is earlier than the last decoding time is on another clock.
      guard let decoding = next.decoding, decoding < least, decoding >= lowest else { break }
      least = decoding
      if decoding != next.composition { break }
    }
    return least
  }

  /// When a sample is decoded so that it can be presented in time: the file's time, less ``decodingShift``. The first
  /// samples show that shift.
  private func decodingTimeInFront(of sample: VideoSample) throws(Failure) -> Int64? {
    guard let time = sample.decoding, let presentation = sample.composition else { return sample.decoding }
    let shift: Int64
    if let known = decodingShift {
      shift = known
    } else {
      while waiting.count < Self.waitingLimit, let read = try readSample() { waiting.append(read) }
      let delays = ([sample] + waiting.map(\.sample)).compactMap { sample in
        sample.decoding.flatMap { time in sample.composition.map { time &- $0 } }
      }
      shift = max(0, delays.max() ?? 0)
      decodingShift = shift
    }
    return min(time &- shift, presentation)
  }

  func seek(to time: ClockTime) throws(Failure) -> Bool {
    // Other containers have no index. If the clock restarts, bisection leads to another place of the same time.
    guard container.context.formatName.hasPrefix("matroska"), let nanoseconds = Int64(exactly: time.nanoseconds) else {
      return false
    }
    let place = nanoseconds &+ shown.start &- shown.time
    do throws(AVError) {
      try container.context.seek(index, to: timeBase.rescaled(place, from: .nanoseconds))
    } catch { return false }
    isAhead = false
    return true
  }
}

/// The times that a container has, in nanoseconds of the media, from any thread.
final class KnownTimes: Sendable {
  /// The time of the first picture in decoding order.
  let first: Int64
  /// The latest time of any picture.
  var latest: Int64 { last.load(ordering: .relaxed) }
  private let last: Atomic<Int64>

  init(first: Int64) {
    self.first = first
    last = Atomic(first)
  }

  func add(_ time: Int64) { last.max(time, ordering: .relaxed) }
}

extension TimeBase {
  /// Ticks as nanoseconds, rounded to the nearest.
  package func nanoseconds(_ ticks: Int64) -> Int64 { Self.nanoseconds.rescaled(ticks, from: self) }
}

/// Reads the tags that an FLV file begins with (Adobe Flash Video File Format Specification, annex E; enhanced RTMP).
enum FlashVideo {
  /// Whether the first tag of video has H.265: by its number in enhanced FLV, or by 12, which others use.
  static func hasH265(in bytes: [UInt8]) -> Bool {
    guard bytes.count >= 9 else { return false }
    // The header has its own length. The size of the previous tag precedes each tag.
    var place = number(bytes[5..<9]) + 4
    while place + 16 <= bytes.count {
      let (type, size) = (bytes[place] & 0x1F, number(bytes[place + 1..<place + 4]))
      if type == 9, size > 4 {
        let first = bytes[place + 11]
        guard first & 0x80 != 0 else { return first & 0xF == 12 }
        let code = bytes[place + 12..<place + 16]
        return code.elementsEqual("hvc1".utf8) || code.elementsEqual("hev1".utf8)
      }
      place += size + 15
    }
    return false
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

extension InputFile {
  /// Whether it is FLV with H.265, which older versions of libavformat do not read.
  var hasFlashH265: Bool {
    guard kind == .container(.flv) else { return false }
    let front = pipe?.front ?? (try? InputBytes(self))?.read(at: 0, count: 1 << 16)
    return front.map(FlashVideo.hasH265) ?? false
  }
}
