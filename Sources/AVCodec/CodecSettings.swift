// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// How to open a decoder.
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

  /// Pictures a decoder may leave out, from none to nearly all (`AVDiscard`).
  package enum Skip: Sendable {
    /// Decode everything.
    case none
    /// Leave out what no other picture refers to.
    case nonReference
    /// Leave out bidirectionally predicted pictures.
    case bidirectional
    /// Leave out everything but key frames.
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

  /// Which decoder.
  package var codec: Codec
  /// avcC or hvcC, which also announces length-prefixed packets, or Annex B parameter sets; may be empty for Annex B.
  package var extradata: [UInt8]
  /// Threads to use; 0 for as many as there are processors, 16 at most.
  package var threadCount = 0
  /// Decode several frames at once: faster, and a frame of delay for each thread but one.
  package var useFrameThreads = true
  /// Decode the slices of a picture at once.
  package var useSliceThreads = true
  /// Ask for frames as early as the stream allows (`AV_CODEC_FLAG_LOW_DELAY`).
  package var lowDelay = false
  /// Reorder depth to begin with, in frames; the decoder raises it where the stream asks for more.
  package var reorderDepth = 0
  /// Where the stream does not say how deep its reordering is, expect what its level allows, so that no frame comes too
  /// late to be shown (`strict_std_compliance`). Otherwise the decoder finds out by losing frames.
  package var expectsDeepestReordering = false
  /// What to leave out at first.
  package var skip = Skip.none
  /// Largest coded picture to accept, in luma samples: what a damaged or hostile size may make us allocate.
  package var maximumPixels = 1 << 26

  /// libavcodec's own answer to 0 is one thread more than there are processors, which delays output by a frame more.
  package var effectiveThreadCount: Int {
    threadCount > 0 ? threadCount : min(max(1, Int(cav_cpu_count())), Self.mostAutomaticThreads)
  }

  /// What libavcodec holds to as well: more threads delay output more than they speed it up.
  private static let mostAutomaticThreads = 16

  /// Settings for a decoder, the rest at their defaults.
  package init(codec: Codec, extradata: [UInt8] = []) {
    self.codec = codec
    self.extradata = extradata
  }
}
