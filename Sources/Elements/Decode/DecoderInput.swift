// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What is known of the stream besides the stream itself.
struct DecoderInput<Codec: DecoderCodec> {
  /// Upstream's caps.
  let caps: CompressedCaps<Codec>
  /// What of them is geometry and colour.
  let info: VideoInfo
  /// Pictures come as they are made, and are to be shown at once.
  let isLive: Bool
}
