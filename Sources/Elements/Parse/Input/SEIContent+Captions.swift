// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension SEIContent {
  /// Closed captions (CEA-708).
  struct Captions: Sendable {
    var format: Buffer.CaptionFormat
    var bytes: [UInt8]
  }

  mutating func add(_ captions: Captions) {
    if self.captions.count < Self.limit { self.captions.append(captions) }
  }
}
