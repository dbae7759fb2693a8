// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// How a session decodes.
public struct SessionConfiguration: Sendable {
  /// What runs in parallel.
  public enum ThreadType: Sendable, CaseIterable {
    /// Frames and slices; with `lowDelay` slices only.
    case automatic
    /// The slices of a picture: no delay, and no gain when a picture is one slice. libavcodec then does not conceal a
    /// lost slice, and the picture is flagged only if that was its first or leaves a gap in `frame_num`.
    case slice
    /// Frames: a frame of delay for each thread but one.
    case frame
    /// Nothing.
    case none
  }

  /// Pictures to skip, each case more than the one before.
  public enum SkipFrames: Sendable, CaseIterable {
    /// None.
    case none
    /// Those that no other picture refers to.
    case nonReference
    /// B-frames.
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

  /// Where the codec is.
  public enum Isolation: Sendable, Hashable {
    /// In the application's process: a stream that ends libavcodec ends the application.
    case none
    /// In a process of its own, behind a sandbox: a stream that ends libavcodec costs at most the access unit that does
    /// so. The program `h26x-codec` is that process's; see ``ProcessLimits``.
    case process(ProcessLimits)
  }

  /// Whether a device decodes.
  public enum Hardware: Sendable, CaseIterable {
    /// Never.
    case off
    /// Where it can, and software where it cannot: for a format that it refuses, after it failed, and for damaged
    /// pictures, which it would neither report nor conceal. No picture is lost by a change.
    case preferred
    /// Always. What it does not decode fails.
    case required
  }

  /// Memory layout of decoded pictures.
  public enum OutputLayout: Sendable {
    /// As libavcodec writes them: planar.
    case native
    /// 4:2:0 of 8 bits as NV12 and of 10 bits as P010, everything else as `native`. Of NV12 libavcodec writes luma in
    /// place, and chroma is copied once; P010 is packed once. A device's pictures come as they are.
    case semiPlanar
  }

  /// Where a device's pictures are.
  package enum OutputMemory: Sendable {
    /// In memory of this process, or of the allocator's.
    case system
    /// They stay in the device's memory, which has descriptors (``DecodedPicture/deviceSamples``), where the device can pass it
    /// on and ``outputLayout`` is semi-planar. Software's pictures, and those that are more than the device can spare,
    /// are in memory of this process.
    case device

    /// Pictures that a session's caller may hold, at least, before others are downloaded.
    package static let surfaceCount = 8
  }

  /// What to do when the stream does not signal how many pictures it reorders (`max_num_reorder_frames`, H.264 E.2.1).
  package enum UnknownReordering: Sendable {
    /// Hold back as many as profile and level allow: every picture is output, in order.
    case expect
    /// Hold back none until pictures turn out to be reordered: less delay, but those that come too late are dropped.
    case adapt
  }

  /// Threads; 0 for as many as there are processors, at most 16.
  public var threadCount = 0
  /// What threads share.
  public var threadType = ThreadType.automatic
  /// Output damaged pictures, flagged, rather than drop them.
  public var outputCorrupt = true
  /// Pictures to skip at first; see ``DecompressionSession/skipFrames``.
  public var skipFrames = SkipFrames.none
  /// How to reorder when the stream does not signal it; `lowDelay` always adapts.
  package var unknownReordering = UnknownReordering.expect
  /// Output a picture before the next access unit comes, where the stream's order allows it. No frame threads.
  public var lowDelay = false
  /// Attempts to restart a lost codec before an access unit fails.
  public var retries = 5
  /// How long to wait for a random access point at the start, in presentation time (`decode`'s `time`). Then decoding
  /// begins without one, with all that was held; earlier where that exceeds `replayByteLimit` or `replayCountLimit`.
  public var startPatience = Duration.seconds(10)
  /// Bytes of compressed video at most kept for a replay, and held until a random access point comes.
  public var replayByteLimit = 16 << 20
  /// Access units at most kept for a replay, and held until a random access point comes.
  public var replayCountLimit = 600
  /// Memory layout of decoded pictures.
  public var outputLayout = OutputLayout.native
  /// Where a device's pictures are.
  package var outputMemory = OutputMemory.system
  /// Compare decoded pictures with the picture hashes of an H.265 stream; those that differ are damaged.
  public var verifiesPictureHash = false
  /// Largest coded picture in luma samples; larger ones fail before memory is allocated. Level 6.2 allows 35,651,584.
  public var maximumPixels = 1 << 26

  /// Where the codec is.
  public var isolation = Isolation.none
  /// Whether a device decodes. Where the codec is in a process of its own, so is the driver, behind a weaker sandbox; a
  /// driver that hangs is noticed only there. The picture hashes of a stream are always compared with what
  /// a device decodes.
  public var hardware = Hardware.off
  /// The device: a render node (`/dev/dri/renderD128`) or an X display (`:0`) for VA-API, a number (`0`) for CUDA; `nil`
  /// for what is there.
  public var hardwareDevice: String?
  /// Ends the session's wait for a codec that is in another process.
  public var cancellation: Cancellation?

  /// Pictures that may stay in the device's memory.
  var surfaceCount: Int { hardware != .off && outputMemory == .device ? OutputMemory.surfaceCount : 0 }
  var expectsReordering: Bool { unknownReordering == .expect && !lowDelay }

  /// The defaults.
  public init() {}
}
