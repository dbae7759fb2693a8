// SPDX-License-Identifier: MPL-2.0
import GStreamer
import GStreamerAudio

/// Fades a sound in, over its first half second.
///
/// The base class knows the format; the element changes samples where they are.
final class Fade: AudioFilter {
  private var position = 0

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Fade", classification: "Filter/Effect/Audio", description: "Fades a sound in",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] { [.sink(sampleCaps), .source(sampleCaps)] }

  override func prepareToStream() { position = 0 }

  override func changeSamples(_ buffer: inout Buffer) throws(FlowError) {
    guard let info else { throw .notNegotiated }
    let length = info.sampleRate / 2
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    for index in stride(from: 0, to: bytes.count - 1, by: 2) where position < length {
      let sample = Int(Int16(truncatingIfNeeded: Int(bytes[index]) | Int(bytes[index + 1]) << 8)) * position / length
      bytes[index] = UInt8(truncatingIfNeeded: sample)
      bytes[index + 1] = UInt8(truncatingIfNeeded: sample >> 8)
      position += 1
    }
  }
}
