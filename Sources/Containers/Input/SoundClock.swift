// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import StreamReport

/// The clock of sound: gives packets the times and durations that their container does not have.
struct SoundClock {
  /// The first headers of streams whose frames have headers that describe them.
  private let headers: [Int: SoundHeader]
  /// The length of each stream's last frame: a frame in LATM may leave its header out.
  private var lengths: [Int: FrameClock.Length]
  /// The times of frames with headers, of which several may come with one time.
  private var frames: [Int: FrameClock] = [:]
  /// The time and the stated duration of the last packet of each stream, in its ticks. Without a decoder, the duration
  /// of MP4's last sample is not known. Most Matroska files have no packet with a known duration.
  private var latest: [Int: (time: Int64, duration: Int64)] = [:]

  /// - Parameter headers: those by which streams were described.
  init(_ headers: [Int: SoundHeader]) {
    self.headers = headers
    lengths = headers.mapValues { FrameClock.Length($0) }
  }

  /// Whether frames of a stream have headers that other containers have not.
  func hasHeaders(_ stream: StreamDescription) -> Bool { headers[stream.index]?.length ?? 0 > 0 }

  /// Whether no packet of a stream had a time up to now.
  func isAtStart(_ stream: StreamDescription) -> Bool { latest[stream.index] == nil }

  /// Gives a packet the time and the duration that the header of its frame shows.
  mutating func complete(_ packet: inout MediaPacket, _ stream: StreamDescription) {
    guard let length = length(of: packet, stream) else { return }
    frames[stream.index, default: FrameClock()].complete(&packet, length, stream.timeBase)
  }

  /// How long a frame of sound lasts that may have neither time nor duration.
  private mutating func length(of packet: borrowing MediaPacket, _ stream: StreamDescription) -> FrameClock.Length? {
    if stream.codecName == "opus" { return FrameClock.Length(opus: packet.copiedBytes()) }
    guard hasHeaders(stream) || stream.codecName == "aac_latm" else { return nil }
    if let header = SoundHeader(packet.copiedBytes(), codec: stream.codecName) {
      lengths[stream.index] = FrameClock.Length(header)
    }
    return lengths[stream.index]
  }

  /// Gives a packet with a time a duration, by the packets before it.
  ///
  /// - Parameter ticks: its time.
  mutating func completeDuration(of packet: inout MediaPacket, at ticks: Int64, _ stream: StreamDescription) {
    let stated = max(packet.duration, 0)
    if stated == 0, stream.kind == .audio, let last = latest[stream.index] {
      packet.duration = last.duration > 0 ? last.duration : max(0, ticks &- last.time)
    }
    latest[stream.index] = (ticks, stated)
  }
}

extension ContainerInput {
  /// Packets in which headers of sound are searched for.
  private static let trialCount = 100_000

  /// Describes sound by the headers of its first frames if nothing else does.
  ///
  /// - Returns: the headers by which streams were described, by the place of their stream.
  func describeSound(_ file: ContainerFile) throws(Failure) -> [Int: SoundHeader] {
    describeByConfiguration()
    var missing = context.streams.filter {
      $0.kind == .audio && ($0.sampleRate == 0 || $0.channels == 0 || $0.codecName == "aac" && $0.extradata.isEmpty)
    }
    missing.removeAll { describeOpus($0) }
    guard !missing.isEmpty else { return [:] }
    var found: [Int: SoundHeader] = [:]
    let trial = try ContainerInput(file, .packets)
    do throws(AVError) {
      var packet = try MediaPacket()
      for _ in 0..<Self.trialCount {
        guard !missing.isEmpty, try trial.context.read(into: &packet) else { break }
        guard let stream = trial.context.stream(packet.stream),
          let place = missing.firstIndex(where: {
            $0.id == stream.id && $0.codecName.prefix(2) == stream.codecName.prefix(2)
          }),
          let header = SoundHeader.first(in: packet.copiedBytes(), codec: missing[place].codecName)
        else { continue }
        let index = missing.remove(at: place).index
        try context.describeSound(
          index, sampleRate: header.sampleRate, channels: header.channels, extradata: header.configuration)
        found[index] = header
      }
    } catch {
      // Streams without a description are left out.
    }
    return found
  }

  /// Describes AAC of FLV by its configuration: the tags of all AAC have 44,100 Hz and two channels.
  private func describeByConfiguration() {
    guard case .container(.flv) = input.kind else { return }
    for stream in context.streams where stream.codecName == "aac" {
      guard let configuration = AudioSpecificConfig(stream.extradata) else { continue }
      let channels = configuration.channels > 0 ? configuration.channels : stream.channels
      do throws(AVError) {
        try context.describeSound(
          stream.index, sampleRate: configuration.sampleRate, channels: channels, extradata: stream.extradata)
      } catch {
        // It keeps the values of its tags.
      }
    }
  }

  /// Describes Opus by its header (RFC 7845, 5.1), which libavformat makes of a transport stream's descriptor. It
  /// always has 48,000 samples a second.
  private func describeOpus(_ stream: StreamDescription) -> Bool {
    let header = stream.extradata
    guard stream.codecName == "opus", header.starts(with: "OpusHead".utf8), header.count >= 19, header[9] > 0 else {
      return false
    }
    do throws(AVError) {
      try context.describeSound(stream.index, sampleRate: 48_000, channels: Int(header[9]), extradata: header)
    } catch { return false }
    return true
  }
}

/// The times of a sound stream's frames. If a packet of a transport stream has several frames, only the first has a
/// time.
struct FrameClock {
  /// The last time that the container has, in ticks, and the samples since then.
  private var last: (time: Int64, samples: Int64)?

  /// How many samples a frame of sound has, and how many there are in a second.
  struct Length: Equatable {
    let samples: Int
    let rate: Int

    init(_ header: SoundHeader) { (samples, rate) = (header.samples, header.sampleRate) }

    /// Reads the table of contents of a packet of Opus (RFC 6716, 3.1 and 3.2).
    init?(opus bytes: [UInt8]) {
      guard let contents = bytes.first else { return nil }
      let (mode, size) = (contents >> 3, Int(contents >> 3 & 3))
      // SILK, then hybrid, then CELT.
      let frame = mode < 12 ? [480, 960, 1920, 2880][size] : mode < 16 ? [480, 960][size & 1] : 120 << size
      let count = contents & 3 == 0 ? 1 : contents & 3 < 3 ? 2 : Int(bytes.dropFirst().first ?? 0) & 63
      (samples, rate) = (frame * count, 48_000)
    }
  }

  /// Gives a frame the time and the duration that it lacks. Without any time before it, it stays without one.
  mutating func complete(_ packet: inout MediaPacket, _ length: Length, _ base: TimeBase) {
    guard let sample = TimeBase(1, Int32(clamping: length.rate)) else { return }
    if let time = packet.decoding ?? packet.presentation {
      last = (time, 0)
    } else if let last {
      packet.presentation = last.time &+ base.rescaled(last.samples, from: sample)
      packet.decoding = packet.presentation
    }
    if packet.duration <= 0 { packet.duration = base.rescaled(Int64(length.samples), from: sample) }
    last?.samples += Int64(length.samples)
  }
}
