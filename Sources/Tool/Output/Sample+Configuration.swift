// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension Sample {
  /// The configuration record (avcC or hvcC) in the caps.
  var codecData: [UInt8]? {
    guard let caps, let buffer = caps.first.buffer("codec_data") else { return nil }
    return try? buffer.copiedBytes()
  }
}
