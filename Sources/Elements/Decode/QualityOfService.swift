// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

// Quality of service: the decoder skips pictures that would be shown too late (`qos`).

extension DecoderSettings {
  /// Pictures to skip: those that the user has excluded (`skip-frame`), or that would be late.
  func skipFrames(for request: FrameRequest) -> SessionConfiguration.SkipFrames {
    let wanted = skipFrame.sessionValue
    return wanted == .none && (request.isLate || request.trickMode.allowsSkipping) ? .nonReference : wanted
  }
}

extension DecoderElement {
  /// Whether a frame would be shown too late, by downstream's reports.
  func isLate(_ frame: borrowing VideoCodecFrame) -> Bool { maximumDecodeTime(of: frame) < 0 && allowsLateDrops }
}
