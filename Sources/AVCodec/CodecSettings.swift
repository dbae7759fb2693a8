// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Settings for opening a decoder.
package struct CodecSettings: Sendable {
  /// The decoders this project uses.
  package enum Codec: Sendable {
    /// ITU-T H.264.
    case h264
    /// ITU-T H.265.
    case h265

    var id: AVCodecID {
      switch self {
      case .h264: AV_CODEC_ID_H264
      case .h265: AV_CODEC_ID_HEVC
      }
    }
  }

  /// Pictures for a decoder to skip, from none to nearly all (`AVDiscard`).
  package enum Skip: Sendable {
    /// Decode everything.
    case none
    /// Skip pictures that no other refers to.
    case nonReference
    /// Skip B-frames.
    case bidirectional
    /// Skip everything but keyframes.
    case nonKey

    var value: AVDiscard {
      switch self {
      case .none: AVDISCARD_DEFAULT
      case .nonReference: AVDISCARD_NONREF
      case .bidirectional: AVDISCARD_BIDIR
      case .nonKey: AVDISCARD_NONKEY
      }
    }
  }

  /// The decoder.
  package var codec: Codec
  /// avcC or hvcC, which also announces length-prefixed packets, or Annex B parameter sets; may be empty for Annex B.
  package var extradata: [UInt8]
  /// Threads; 0 for as many as there are processors, at most 16.
  package var threadCount = 0
  /// Decode several frames in parallel: faster, and a frame of delay for each thread but one.
  package var useFrameThreads = true
  /// Decode the slices of a picture in parallel.
  package var useSliceThreads = true
  /// Output frames as early as the stream allows (`AV_CODEC_FLAG_LOW_DELAY`).
  package var lowDelay = false
  /// Initial reorder depth in frames; the decoder raises it if the stream needs more.
  package var reorderDepth = 0
  /// Whether the decoder expects the reordering depth that the level allows if the stream does not signal one, so
  /// that no frame comes too late for output (`strict_std_compliance`). Otherwise the decoder adapts, and drops
  /// frames each time.
  package var expectsDeepestReordering = false
  /// Whether film grain is left out of pictures. It depends on the pictures in front.
  package var leavesFilmGrainOut = false
  /// Pictures to skip at first.
  package var skip = Skip.none
  /// Largest coded picture to accept, in luma samples: limits what a damaged or hostile size makes us allocate.
  package var maximumPixels = 1 << 26

  /// The number of threads. libavcodec's own default is one more than there are processors: a frame more of delay.
  package var effectiveThreadCount: Int {
    usesHardware ? 1 : threadCount > 0 ? threadCount : min(max(1, Int(cav_cpu_count())), Self.mostAutomaticThreads)
  }

  /// libavcodec's own limit, too: more threads delay output more than they speed it up.
  private static let mostAutomaticThreads = 16

  /// Decode on a device. libavcodec's own order and reference marking stay in use; one thread, because hardware
  /// decoders of one context are called one after the other anyway.
  package var usesHardware = false

  /// The number of access units sent together to a decoder in another process. One such batch is sent before the
  /// previous batch is answered. If 0, each access unit is answered before the next is sent.
  package var batchSize = 0

  /// Returns the number of access units that are worth an exchange with another process, given the luma samples of a
  /// picture. Decoding a small picture takes less time than two switches to another process, so small pictures are
  /// sent several at a time.
  package static func batchSize(_ sampleCount: Int) -> Int { max(1, min(4, (1 << 21) / max(1, sampleCount))) }

  /// Whether frames may come out later than their order requires.
  package var mayDelayFrames: Bool { useFrameThreads && effectiveThreadCount > 1 || batchSize > 0 }

  /// Pictures that may stay in the device's memory behind the decoder, which needs as many surfaces more.
  package var surfaceCount = 0

  /// Settings for a decoder, the rest at their defaults.
  package init(codec: Codec, extradata: [UInt8] = []) {
    self.codec = codec
    self.extradata = extradata
  }
}
