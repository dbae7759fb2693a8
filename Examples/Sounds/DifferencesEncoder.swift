// SPDX-License-Identifier: MPL-2.0
import GStreamer
import GStreamerAudio

/// Codes samples by their differences, each in as many bytes as it needs: one up to 63, two, or three.
///
/// The base class cuts the sound into frames of the size that the codec asks for, and gives each its time.
final class DifferencesEncoder: AudioEncoder {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Differences encoder", classification: "Codec/Encoder/Audio", description: "Codes samples by differences",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] { [.sink(sampleCaps), .source("audio/x-differences")] }

  override func setFormat(_ info: AudioInfo) -> Bool {
    setFrameSamples(400...400)
    var caps = Caps(mediaType: "audio/x-differences")
    caps.set("rate", .int(Int32(info.sampleRate)))
    return setOutputCaps(caps)
  }

  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    let samples = try samples(in: frame)
    var code: [UInt8] = []
    var last = 0
    for sample in samples {
      var rest = (sample - last) << 1 ^ (sample - last) >> 63
      while rest > 127 {
        code.append(UInt8(rest & 127 | 128))
        rest >>= 7
      }
      code.append(UInt8(rest))
      last = sample
    }
    guard let output = Buffer(copying: code.span) else { throw .error }
    try finish(output, samples: samples.count)
  }
}
