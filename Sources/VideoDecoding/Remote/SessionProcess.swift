// SPDX-License-Identifier: MPL-2.0
import CLinux
package import CodecLink
import Glibc

/// A session's process, which decodes behind its protection. It ends with its owner's last reference. Its own side is
/// the `SessionProcess` of `CodecService`.
///
/// It is a child of the starter, not of the application. The application thus neither gets a SIGCHLD for it nor reaps
/// it in its own waits.
package final class SessionProcess: Sendable {
  /// The connection to it, on which it has announced that it is ready.
  package let socket: LinkSocket
  /// Its number, to be shown; signals are sent by descriptor.
  package let processIdentifier: Int32
  /// The layers of protection around it.
  package let protection: Protection
  /// The requested layers of protection that are missing.
  package let missingProtection: Protection
  /// The outcome of opening its device.
  package let device: DeviceReport
  /// The decoder that it uses.
  package var decoder: SessionDecoder { SessionDecoder(device) }
  private let process: OwnedDescriptor
  /// The socket on which the starter reports how the process ended.
  private let report: LinkSocket
  /// The process that has started it. A process that is forked from that one inherits the descriptors, but not
  /// ownership.
  private let owner: pid_t

  package init(
    socket: consuming LinkSocket, processIdentifier: Int32, process: consuming OwnedDescriptor,
    report: consuming LinkSocket, protection: Protection, device: DeviceReport = .none,
    missingProtection: Protection
  ) {
    self.device = device
    self.socket = socket
    self.processIdentifier = processIdentifier
    self.process = process
    self.report = report
    self.protection = protection
    self.missingProtection = missingProtection
    owner = getpid()
  }

  deinit {
    kill()
    reap()
  }

  /// Reaps the process if the application has become its parent. That happens when its starter has ended, and the
  /// application is the first process of a container, or has made itself the parent of orphans.
  private func reap() {
    guard owner == getpid() else { return }
    var (code, status) = (Int32(0), Int32(0))
    // Fails, as a rule: it is the starter's.
    guard unsafe clinux_reap(process.rawValue, WNOHANG, &code, &status) == 0, code == 0 else { return }
    var state = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&state, 1, 1000)
    _ = unsafe clinux_reap(process.rawValue, WNOHANG, &code, &status)
  }

  /// Kills the process immediately. Further calls have no effect.
  package func kill() {
    guard owner == getpid() else { return }
    clinux_pidfd_send_signal(process.rawValue, SIGKILL)
  }

  /// The way in which it ended; waits for that as long as `patience`. Call it once.
  ///
  /// `.unknown` if it has not ended by then, or if the starter, which would report it, has ended.
  package func ending(within patience: Duration = .seconds(1)) -> ServiceEnding {
    Self.ending(from: report, until: Deadline(after: patience))
  }

  static func ending(from report: borrowing LinkSocket, until deadline: Deadline) -> ServiceEnding {
    var message = LinkMessage(capacity: 64)
    do throws(LinkError) {
      try report.receive(into: &message, until: deadline)
      return try ServiceEnding(reading: message.bytes)
    } catch { return .unknown }
  }
}
