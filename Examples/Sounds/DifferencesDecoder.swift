// SPDX-License-Identifier: MPL-2.0
import GStreamer
import GStreamerAudio

/// Decodes what ``DifferencesEncoder`` codes.
///
/// The base class takes care of segments, timestamps, seeks and gaps.
final class DifferencesDecoder: AudioDecoder {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Differences decoder", classification: "Codec/Decoder/Audio",
      description: "Decodes samples from differences",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.sink("audio/x-differences, rate=[1,192000]"), .source(sampleCaps)]
  }

  override func setFormat(_ caps: borrowing Caps) -> Bool {
    guard let rate = caps.first.int("rate"),
      let info = AudioInfo(format: .s16, sampleRate: Int(rate), channels: 1)
    else { return false }
    return setOutputFormat(info)
  }

  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    var samples: [Int] = []
    var (last, value, shift) = (0, 0, 0)
    for byte in try frame.copiedBytes() {
      // Three bytes at most: the code may come from anywhere.
      guard shift < 21 else { return try drop() }
      value |= Int(byte & 127) << shift
      shift += 7
      if byte > 127 { continue }
      last += value >> 1 ^ -(value & 1)
      samples.append(last)
      (value, shift) = (0, 0)
    }
    guard !samples.isEmpty, shift == 0 else { return try drop() }
    try finish(try buffer(of: samples))
  }
}
