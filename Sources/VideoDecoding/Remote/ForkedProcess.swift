// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc

/// A process that the starter has forked, and that is not ready yet.
struct ForkedProcess: ~Copyable, Sendable {
  let processIdentifier: Int32
  /// The path of its program.
  let path: String
  let socket: LinkSocket
  let process: OwnedDescriptor
  /// The socket on which the starter reports how the process ended.
  let report: LinkSocket

  /// Waits until it is protected.
  consuming func process(
    _ request: ServiceRequest, until deadline: Deadline, unless cancellation: EventDescriptor?
  ) throws(ServiceError) -> SessionProcess {
    let ready: ServiceReady
    do throws(LinkError) {
      var message = LinkMessage(capacity: 8192)
      try socket.receive(into: &message, until: deadline, unless: cancellation)
      ready = try ServiceReady(reading: message.bytes)
    } catch {
      if error == .closed {
        throw .diesAtStart(path: path, ending: SessionProcess.ending(from: report, until: Deadline(after: .seconds(1))))
      }
      // The process may be stopped, so that a closed connection does not end it.
      clinux_pidfd_send_signal(process.rawValue, SIGKILL)
      switch error {
      case .cancelled: throw .cancelled
      case .timedOut: throw .doesNotAnswer(path: path)
      case .system(let code): throw .cannotBegin(path: path, code: code)
      case .closed, .invalid: throw .diesAtStart(path: path, ending: .unknown)
      }
    }
    if case .failed(let reason) = ready.device { throw .noDevice(String(decoding: reason, as: UTF8.self)) }
    if request.requiresSandbox, !ready.protection.isSuperset(of: .essential) {
      throw .noProtection(path: path, missing: Protection.essential.subtracting(ready.protection))
    }
    return SessionProcess(
      socket: socket, processIdentifier: processIdentifier, process: process, report: report,
      protection: ready.protection, device: ready.device,
      missingProtection: ready.protection.missing.subtracting(
        request.device != nil ? .closedToDrivers : request.memoryLimit > 0 ? [] : .memoryLimit))
  }
}
