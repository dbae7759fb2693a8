// SPDX-License-Identifier: MPL-2.0
import CodecLink

/// What decodes.
public enum SessionDecoder: Sendable, Hashable {
  /// libavcodec, on the processor.
  case software
  /// A device, spoken to by `method` (`CUDA`, `VA-API`); `name` is what its driver calls it, or where it is.
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
  /// What a codec's process reports.
  init(_ report: DeviceReport) {
    switch report {
    case .opened(let method, let name, _):
      self = .hardware(method: String(decoding: method, as: UTF8.self), name: String(decoding: name, as: UTF8.self))
    case .none, .failed: self = .software
    }
  }
}
