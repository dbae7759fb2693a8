// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import CodecLink

/// The settings of a session.
public struct SessionConfiguration: Sendable {
  /// The threading model.
  public enum ThreadType: Sendable, CaseIterable {
    /// Frames and slices; with `lowDelay` slices only.
    case automatic
    /// The slices of a picture: no delay, and no gain when a picture is one slice. libavcodec then does not conceal a
    /// lost slice. The picture is flagged only if its first slice was lost or the loss leaves a gap in `frame_num`.
    case slice
    /// Frames: one frame of delay for each thread after the first.
    case frame
    /// No parallel decoding.
    case none
  }

  /// The process that the codec runs in.
  public enum Isolation: Sendable, Hashable {
    /// In the application's process: a stream that ends libavcodec ends the application.
    case none
    /// In a sandboxed process of its own: a stream that ends libavcodec costs at most the access unit that
    /// does so. That process runs the program `h26x-codec`; see ``ProcessLimits``.
    case process(ProcessLimits)
  }

  /// Whether a device decodes.
  public enum Hardware: Sendable, CaseIterable {
    /// Never.
    case off
    /// A device if it can decode, and otherwise software. Software decodes formats that the device refuses, and
    /// everything after the device failed. It also decodes damaged pictures, which the device would neither report
    /// nor conceal. No picture is lost by a change.
    case preferred
    /// Always. Access units that the device does not decode fail.
    case required
  }

  /// Memory layout of decoded pictures.
  public enum OutputLayout: Sendable {
    /// As libavcodec writes them: planar.
    case native
    /// 4:2:0 of 8 bits as NV12 and of 10 bits as P010, everything else as `native`. For NV12, libavcodec writes luma
    /// in place, and chroma is copied once; P010 is packed once. A device's pictures are not converted.
    case semiPlanar
  }

  /// The memory for a device's pictures.
  package enum OutputMemory: Sendable {
    /// In memory of this process, or of the allocator's.
    case system
    /// Pictures stay in the device's memory, which has descriptors (``DecodedPicture/deviceSamples``), if the device
    /// can pass it on and ``outputLayout`` is semi-planar. Software's pictures, and pictures beyond those that the
    /// device can spare, are in memory of this process.
    case device

    /// Pictures that a session's caller may hold, at least, before others are downloaded.
    package static let surfaceCount = 8
  }

  /// The behavior when the stream does not signal how many pictures it reorders (`max_num_reorder_frames`, H.264
  /// E.2.1).
  package enum UnknownReordering: Sendable {
    /// Hold back as many as profile and level allow: every picture is output, in order.
    case expect
    /// Hold back no pictures until one is reordered: less delay, but late pictures are dropped as
    /// ``DropReason/outOfOrder``.
    case adapt
  }

  /// Threads; 0 for as many as there are processors, at most 16.
  public var threadCount = 0
  /// The threading model.
  public var threadType = ThreadType.automatic
  /// Output damaged pictures, flagged as corrupted, instead of dropping them. A session can change it:
  /// ``DecompressionSession/outputCorrupt``.
  public var outputCorrupt = true
  /// Pictures to skip; a session can change it: ``DecompressionSession/skipFrames``.
  public var skipFrames = SkipFrames.none
  /// The reordering to expect when the stream does not signal it; `lowDelay` always adapts.
  package var unknownReordering = UnknownReordering.expect
  /// Output a picture before the next access unit comes, if the stream's order allows it. No frame threads.
  public var lowDelay = false
  /// Attempts to restart a lost codec before an access unit fails. A session can change it:
  /// ``DecompressionSession/retries``.
  public var retries = 5
  /// The longest wait for a random access point at the start, in presentation time (`decode`'s `time`). Decoding then
  /// begins without one, with everything that was held. It begins earlier if the held access units exceed
  /// `replayByteLimit` or `replayCountLimit`.
  public var startPatience = Duration.seconds(10)
  /// Bytes of compressed video at most kept for a replay, and held until a random access point comes.
  public var replayByteLimit = 16 << 20
  /// Access units at most kept for a replay, and held until a random access point comes.
  public var replayCountLimit = 600
  /// Memory layout of decoded pictures.
  public var outputLayout = OutputLayout.native
  /// The memory for a device's pictures.
  package var outputMemory = OutputMemory.system
  /// Compare decoded pictures with the picture hashes of an H.265 stream; pictures that differ are damaged.
  public var verifiesPictureHash = false
  /// Read every slice to its last bit while libavcodec decodes, on a thread of the session's own. Pictures with slices
  /// that do not end where they must, and pictures that refer to them, are damaged. Finds most damage that libavcodec
  /// does not report, above all in H.265. Slices of other layers, data partitions and redundant slices are not read.
  public var verifiesSlices = false
  /// Largest coded picture in luma samples. Larger pictures fail before memory is allocated. Level 6.2 allows
  /// 35,651,584.
  public var maximumPixels = 1 << 26

  /// The process that the codec runs in.
  public var isolation = Isolation.none
  /// Whether a device decodes. If the codec is in a process of its own, so is the driver, behind a weaker sandbox; a
  /// hanging driver is noticed only there. The picture hashes of a stream are always compared with a device's
  /// pictures.
  public var hardware = Hardware.off
  /// The device: a render node (`/dev/dri/renderD128`) or an X display (`:0`) for VA-API, a number (`0`) for CUDA;
  /// `nil` for any available device.
  public var hardwareDevice: String?
  /// Ends the session's wait for a codec that is in another process.
  public var cancellation: Cancellation?

  /// Pictures that may stay in the device's memory.
  var surfaceCount: Int { hardware != .off && outputMemory == .device ? OutputMemory.surfaceCount : 0 }
  var expectsReordering: Bool { unknownReordering == .expect && !lowDelay }

  /// More threads gain nothing at any picture size.
  package static var mostThreads: Int { 64 }

  /// The defaults.
  public init() {}
}

extension SessionConfiguration {
  /// Pictures to skip. Each case skips more than the previous case. The two fields of a frame are skipped together.
  public enum SkipFrames: Sendable, CaseIterable {
    /// None.
    case none
    /// Pictures that no other picture refers to.
    case nonReference
    /// B-frames. B-frames of H.264 that others refer to are decoded, but not shown.
    case bidirectional
    /// All but random access points. When skipping ends, pictures are flagged as damaged up to the next random access
    /// point (H.264), or if they refer to skipped pictures (H.265).
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
}

/// The resources that a codec's process may use, and the protection that it needs.
public struct ProcessLimits: Sendable, Hashable {
  /// The behavior if the kernel lacks a part of the sandbox.
  public enum Sandbox: Sendable, CaseIterable {
    /// No session is created if system calls cannot be filtered; other layers may be missing.
    case required
    /// The session decodes behind the available layers, and ``SessionNotice/incompleteSandbox(missing:)`` lists the
    /// others.
    case bestEffort
  }

  /// The time that the process may take for an access unit. A slower process is ended, and counts as lost.
  public var timeout: Duration
  /// Bytes of memory of the process's own, pictures not counted, which it shares with the application; `nil` for no
  /// limit. Below some 100 MB nothing decodes.
  public var memory: UInt64?
  /// Whether the sandbox is required.
  public var sandbox: Sandbox

  /// Five seconds, no limit of memory, and the sandbox that there is, unless given otherwise.
  public init(timeout: Duration = .seconds(5), memory: UInt64? = nil, sandbox: Sandbox = .bestEffort) {
    self.timeout = timeout
    self.memory = memory
    self.sandbox = sandbox
  }

  package var request: ServiceRequest {
    ServiceRequest(memoryLimit: memory ?? 0, requiresSandbox: sandbox == .required)
  }
}
