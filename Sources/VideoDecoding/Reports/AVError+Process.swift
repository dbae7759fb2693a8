// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CodecLink
import Glibc

/// Failures of a codec's process, by numbers that libavcodec does not use.
extension AVError {
  private static let base: Int32 = -0x7000_0000

  private enum Kind: Int32 {
    case ended = 1
    case timedOut, protocolViolation, cancelled, serviceUnavailable, fileSizeLimit, descriptorLimit
  }

  private init(_ kind: Kind, signal: Int32 = 0) { self.init(rawValue: Self.base - (kind.rawValue << 8 | signal)) }

  /// The process ended, by this signal; 0 if there was none, or if it is unknown.
  package static func processEnded(signal: Int32) -> AVError { AVError(.ended, signal: 0...127 ~= signal ? signal : 0) }
  /// The process did not answer in time.
  package static let timedOut = AVError(.timedOut)
  /// The process sent an answer that the protocol does not allow.
  package static let protocolViolation = AVError(.protocolViolation)
  /// The wait for the process was cancelled.
  package static let cancelled = AVError(.cancelled)
  /// No process could be started.
  package static let serviceUnavailable = AVError(.serviceUnavailable)

  /// Memory that processes share counts as a file, and the application's limit does not allow one of that size.
  package static let fileSizeLimit = AVError(.fileSizeLimit)

  /// The application has no descriptor left for memory or sockets that it shares with the process.
  package static let descriptorLimit = AVError(.descriptorLimit)

  /// The reason that there is nothing to share with the process.
  init(sharing error: LinkError) {
    switch error {
    case .system(EFBIG): self = .fileSizeLimit
    case _ where error.isDescriptorLimit: self = .descriptorLimit
    default: self = .outOfMemory
    }
  }

  private var kind: Kind? {
    // No other codes are that low: libavutil's codes begin with a letter below 'p'.
    guard rawValue <= Self.base, rawValue > Self.base - 0x1_0000 else { return nil }
    return Kind(rawValue: (Self.base - rawValue) >> 8)
  }

  /// The failure is the process's, not libavcodec's.
  var isOfProcess: Bool { kind != nil }

  /// The process has ended, and its contents are lost.
  var endsProcess: Bool {
    switch kind {
    case .ended, .timedOut, .protocolViolation: true
    case .cancelled, .serviceUnavailable, .fileSizeLimit, .descriptorLimit, nil: false
    }
  }

  /// The failure of the process; `nil` for libavcodec's own failures.
  var processFailure: String? {
    switch kind {
    case .ended:
      let signal = (Self.base - rawValue) & 0x7F
      return "the codec's process \(signal > 0 ? ServiceEnding.signalled(signal) : .unknown)"
    case .timedOut: return "the codec's process did not answer in time"
    case .protocolViolation: return "the codec's process broke the protocol"
    case .cancelled: return "the wait for the codec's process was cancelled"
    case .fileSizeLimit:
      return "memory shared with the codec's process counts as a file: raise the limit of file sizes (ulimit -f)"
    case .descriptorLimit:
      return "no descriptor is left for memory shared with the codec's process: raise the limit (ulimit -n), "
        + "or close files"
    case .serviceUnavailable: return nil
    case nil: return nil
    }
  }
}
