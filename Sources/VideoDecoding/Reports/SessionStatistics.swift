// SPDX-License-Identifier: MPL-2.0
import CodecLink

/// A session's counts since it was created. `submitted` = `output` + `dropped` + `failed` + access units still
/// inside.
public struct SessionStatistics: Sendable, Hashable {
  /// Access units that `decode` took.
  public var submitted: UInt64 = 0
  /// Frames output.
  public var output: UInt64 = 0
  /// Access units dropped, for any reason.
  public var dropped: UInt64 = 0
  /// Dropped access units whose picture is missing from the output. A second field, for example, does not count: it
  /// is in the picture of the first.
  public var lost: UInt64 = 0
  /// Access units that failed.
  public var failed: UInt64 = 0
  /// Frames that are damaged or reference damaged pictures; output or not.
  public var corrupted: UInt64 = 0
  /// Frames in which the decoder concealed damage.
  public var concealed: UInt64 = 0
  /// Frames that differ from the stream's picture hash; output or not.
  public var hashMismatches: UInt64 = 0
  /// H.265 frames output behind a frame that they precede in output order, because the stream signals less reordering than
  /// it has (C.5.2.2).
  public var outOfOrder: UInt64 = 0
  /// Damaged slices; `nil` unless ``SessionConfiguration/verifiesSlices`` is set. A picture that lacks slices although
  /// all others are sound counts as one.
  public var damagedSlices: UInt64?
  /// The last of the damaged slices: its place is in ``DecodeError/detail``.
  public var lastDamagedSlice: DecodeError?
  /// Codecs opened again after one was lost, or to hold more pictures back than the stream signals.
  public var restarts: UInt64 = 0
  /// Access units decoded again after that.
  public var replayed: UInt64 = 0
  /// Codecs lost because their process ended, did not answer in time, or broke the protocol.
  public var processesLost: UInt64 = 0
  /// The decoder in use; `nil` without a codec.
  public var decoder: SessionDecoder?
  /// The number of the process that the codec is in; `nil` for the application's, and without a codec.
  public var codecProcess: Int32?
  /// Times that software took a device's place.
  public var softwareFallbacks: UInt64 = 0
  /// Times that no replay succeeded and the session waited for the next random access point.
  public var resynchronisations: UInt64 = 0
  /// Pictures decoded into the session's own memory because the allocator's was missing or unsuitable.
  public var allocatorMisses: UInt64 = 0
  /// The last failure, whether or not the session recovered from it.
  public var lastError: DecodeError?

  /// Nothing yet.
  package init() {}
}

/// The decoder that a session uses.
public enum SessionDecoder: Sendable, Hashable {
  /// libavcodec, on the processor.
  case software
  /// A device, accessed by `method` (`CUDA`, `VA-API`). `name` is the driver's name for it, or else its place.
  case hardware(method: String, name: String)
}

extension SessionDecoder: CustomStringConvertible {
  /// As in "CUDA, NVIDIA T4".
  public var description: String {
    switch self {
    case .software: "software"
    case .hardware(let method, let name): "\(method), \(name)"
    }
  }
}

extension SessionDecoder {
  /// Translates the report of a codec's process.
  init(_ report: DeviceReport) {
    switch report {
    case .opened(let method, let name, _):
      self = .hardware(method: String(decoding: method, as: UTF8.self), name: String(decoding: name, as: UTF8.self))
    case .none, .failed: self = .software
    }
  }
}
