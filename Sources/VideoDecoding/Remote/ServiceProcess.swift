// SPDX-License-Identifier: MPL-2.0
import CLinux
package import CodecLink
import Glibc

/// A process that decodes for one session, behind its protection. It ends with its owner's last reference.
///
/// It is a child of the starter, not of the application: neither the application's SIGCHLD nor what it waits for ever
/// meets it.
package final class ServiceProcess: Sendable {
  /// The connection to it, on which it has announced that it is ready.
  package let socket: LinkSocket
  /// Its number, to be shown; signals are sent by descriptor.
  package let processIdentifier: Int32
  /// What is in force around it.
  package let protection: Protection
  /// What was requested and is not in force.
  package let missingProtection: Protection
  /// What became of the device that it was to open.
  package let device: DeviceReport
  /// What it decodes with.
  package var decoder: SessionDecoder { SessionDecoder(device) }
  private let process: OwnedDescriptor
  /// Where the starter reports how it has ended.
  private let report: LinkSocket
  /// The process that has begun it: one that is forked from it inherits the descriptors, not the process.
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

  deinit { kill() }

  /// Ends it at once, whatever it does; again is harmless.
  package func kill() {
    guard owner == getpid() else { return }
    clinux_pidfd_send_signal(process.rawValue, SIGKILL)
  }

  /// How it ended; waits for that as long as `patience`. Call it once.
  ///
  /// `.unknown` where it has not ended by then, or where the starter, which would report it, has ended.
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
