// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The stream as upstream's caps declare it.
struct DecoderInput<Codec: DecoderCodec> {
  /// Upstream's caps.
  let caps: CompressedCaps<Codec>
  /// Their geometry and color.
  let info: VideoInfo
  /// Upstream is live (latency query).
  let isLive: Bool
}
