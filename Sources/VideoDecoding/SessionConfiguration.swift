// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// How a session decodes.
public struct SessionConfiguration: Sendable {
  /// What runs in parallel.
  public enum ThreadType: Sendable, CaseIterable {
    /// Frames where that adds no unwanted delay: frames, or slices with `lowDelay`.
    case automatic
    /// The slices of a picture: no delay, and no gain when a picture is one slice. libavcodec does not conceal a lost
    /// slice then, and the picture is flagged only if it is the first of the picture or leaves a gap in `frame_num`.
    case slice
    /// Frames: a frame of delay for each thread but one.
    case frame
    /// Nothing.
    case none
  }

  /// Pictures to leave out, in rising order.
  public enum SkipFrames: Sendable, CaseIterable {
    /// None.
    case none
    /// Those that no other picture refers to.
    case nonReference
    /// Those predicted bidirectionally.
    case bidirectional
    /// All but random access points.
    case nonKey

    var codecSkip: CodecSettings.Skip {
      switch self {
      case .none: .none
      case .nonReference: .nonReference
      case .bidirectional: .bidirectional
      case .nonKey: .nonKey
      }
    }
  }

  /// How decoded pictures lie in memory.
  public enum OutputLayout: Sendable {
    /// As libavcodec writes them: planar.
    case native
    /// 8-bit 4:2:0 as NV12, everything else as `native`. libavcodec writes luma in place; chroma is interleaved once.
    case semiPlanar
  }

  /// What to do when the stream does not say how many pictures it reorders (max_num_reorder_frames, H.264 E.2.1).
  package enum UnknownReordering: Sendable {
    /// Hold back as many as profile and level allow: every picture is shown, in order.
    case expect
    /// Hold back none until pictures turn out to be reordered: less delay, and those that come too late are not shown.
    case adapt
  }

  /// Threads; 0 for as many as there are processors, 16 at most.
  public var threadCount = 0
  /// What they share.
  public var threadType = ThreadType.automatic
  /// Put damaged pictures out, flagged, rather than drop them.
  public var outputCorrupt = true
  /// What to leave out; `DecompressionSession.skipFrames` changes it on the way.
  public var skipFrames = SkipFrames.none
  /// How to reorder when the stream does not say; `lowDelay` always adapts.
  package var unknownReordering = UnknownReordering.expect
  /// Put a picture out before the next access unit comes, where the stream's order allows it. No frame threads.
  public var lowDelay = false
  /// Attempts to bring back a lost codec before an access unit fails, wherever the new one fails.
  public var retries = 5
  /// How long a random access point is waited for at the start, in presentation time (`decode`'s `time`). Then decoding
  /// begins without, with all that has been kept; sooner where that exceeds `replayByteLimit` or `replayCountLimit`.
  public var startPatience = Duration.seconds(10)
  /// Most bytes of compressed video kept for a replay, and while a random access point is waited for.
  public var replayByteLimit = 16 << 20
  /// Most access units kept for a replay, and while a random access point is waited for.
  public var replayCountLimit = 600
  /// How decoded pictures lie in memory.
  public var outputLayout = OutputLayout.native
  /// Compare decoded pictures with the picture hashes that an H.265 stream sends; those that differ are damaged.
  public var verifiesPictureHash = false
  /// Largest coded picture, in luma samples; larger ones fail instead of claiming memory. Level 6.2 allows 35,651,584.
  public var maximumPixels = 1 << 26

  var expectsReordering: Bool { unknownReordering == .expect && !lowDelay }

  /// The defaults.
  public init() {}
}
