// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What upstream's caps declare about the stream.
struct DecoderInput<Codec: DecoderCodec> {
  /// Upstream's caps.
  let caps: CompressedCaps<Codec>
  /// Their geometry and colour.
  let info: VideoInfo
  /// Upstream is live (latency query).
  let isLive: Bool
}
