// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The end of a process.
package enum ServiceEnding: Hashable, Sendable {
  /// By itself, with this status.
  case exited(Int32)
  /// By this signal.
  case signalled(Int32)
  /// It was reaped elsewhere, or the process that had to report it has ended.
  case unknown

  /// The status of a starter that meets a limit of descriptors.
  package static let descriptorLimitStatus: Int32 = 4

  /// From `si_code` and `si_status` of waitid(2).
  package init(code: Int32, status: Int32) {
    switch code {
    case Int32(CLD_EXITED): self = .exited(status)
    case Int32(CLD_KILLED), Int32(CLD_DUMPED): self = .signalled(status)
    default: self = .unknown
    }
  }

  /// Reads the starter's report.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    let (code, status) = (try reader.read(Int32.self), try reader.read(Int32.self))
    try reader.finish()
    self.init(code: code, status: status)
  }

  /// The starter's report.
  package var report: [UInt8] {
    let (code, status): (Int32, Int32) =
      switch self {
      case .exited(let status): (Int32(CLD_EXITED), status)
      case .signalled(let signal): (Int32(CLD_KILLED), signal)
      case .unknown: (0, 0)
      }
    var writer = MessageWriter()
    writer.append(code)
    writer.append(status)
    return writer.bytes
  }
}

extension ServiceEnding: CustomStringConvertible {
  /// As in "ended by signal 9 (Killed)".
  package var description: String {
    switch self {
    case .exited(let status): "ended with status \(status)"
    case .signalled(SIGSYS): "ended by a system call that its filter forbids"
    case .signalled(let signal):
      if let text = unsafe strsignal(signal) {
        unsafe "ended by signal \(signal) (\(String(cString: text)))"
      } else {
        "ended by signal \(signal)"
      }
    case .unknown: "ended, cause unknown"
    }
  }
}
