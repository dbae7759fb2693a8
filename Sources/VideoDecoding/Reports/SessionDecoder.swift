// SPDX-License-Identifier: MPL-2.0
import CodecLink

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
