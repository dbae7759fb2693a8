// SPDX-License-Identifier: MPL-2.0
import AVFormat

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
