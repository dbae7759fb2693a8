// SPDX-License-Identifier: MPL-2.0
package import CodecLink
import Glibc
import Synchronization

/// Starts codec processes. The first call executes the service, and later calls have it fork. If the service has
/// gone, a call executes it again. Any thread may call it: nothing depends on how long a thread lives.
package final class CodecStarter: Sendable {
  /// The application's starter.
  package static let shared = CodecStarter()

  /// The starter of processes that decode on a device: separate, because it is less protected.
  package let hardware: CodecStarter?
  private let purpose: StarterProcess.Purpose
  /// The service's environment variables, in addition to the application's.
  private let environment: [String]
  /// Devices that none of its processes could open. The application may be able to: it has more rights.
  let missingDevices: MissingDevices
  /// The location of the service; `nil` to search for it at each start.
  private let location: CodecServiceLocation?
  /// The time that the service may take to load, and a process to set up its protection.
  private let patience: Duration
  private let state = Mutex(State())

  private struct State: Sendable {
    var starter: StarterProcess?
    /// The number of the last request.
    var request: UInt32 = 0
  }

  /// A separate starter, for tests.
  package convenience init(
    at location: CodecServiceLocation? = nil, patience: Duration = .seconds(20), environment: [String] = []
  ) {
    self.init(
      for: .software, at: location, patience: patience, environment: environment, missingDevices: MissingDevices())
  }

  private init(
    for purpose: StarterProcess.Purpose, at location: CodecServiceLocation?, patience: Duration,
    environment: [String], missingDevices: MissingDevices
  ) {
    self.purpose = purpose
    self.location = location
    self.patience = patience
    self.environment = environment
    self.missingDevices = missingDevices
    hardware =
      purpose == .hardware
      ? nil
      : CodecStarter(
        for: .hardware, at: location, patience: patience, environment: environment, missingDevices: missingDevices)
  }

  /// Begins a process for a session, and waits until it is protected.
  ///
  /// - Parameter cancellation: ends the wait with `ServiceError.cancelled`.
  package static func begin(
    limits: ProcessLimits, unless cancellation: EventDescriptor? = nil
  ) throws(ServiceError) -> SessionProcess {
    try shared.begin(limits.request, unless: cancellation)
  }

  /// Begins a process for any request.
  package func begin(
    _ request: ServiceRequest, unless cancellation: EventDescriptor? = nil
  ) throws(ServiceError) -> SessionProcess {
    if let device = request.device, let reason = missingDevices.reason(for: device) {
      throw .noDevice(reason)
    }
    do throws(ServiceError) {
      let process = try state.withLock { state throws(ServiceError) in
        try fork(request, &state, unless: cancellation)
      }.process(request, until: Deadline(after: patience), unless: cancellation)
      if let device = request.device { missingDevices.remove(device) }
      return process
    } catch {
      if let device = request.device, case .noDevice(let reason) = error {
        missingDevices.insert(device, reason)
      }
      throw error
    }
  }

  /// The number of the starter's process, if one runs; for tests.
  package var processIdentifier: Int32? { state.withLock { $0.starter?.processIdentifier } }

  /// Has the starter fork, and starts it first if necessary.
  private func fork(
    _ request: ServiceRequest, _ state: inout State, unless cancellation: EventDescriptor?
  ) throws(ServiceError) -> ForkedProcess {
    state.request &+= 1
    // One that this process has inherited by a fork is its parent's.
    if let starter = state.starter, starter.isOwn {
      do throws(LinkError) {
        // A fork takes milliseconds. One that does not answer is stopped, or starved.
        return try starter.fork(
          request, number: state.request, until: Deadline(after: patience / 4), unless: cancellation)
      } catch .cancelled {
        throw .cancelled
      } catch .system(let code) {
        throw .cannotBegin(path: starter.path, code: code)
      } catch {}
    }
    // The previous starter is gone, or ends now.
    state.starter = nil
    let deadline = Deadline(after: patience)
    let place = if let location { location } else { try CodecServiceLocation.find() }
    let starter = try StarterProcess(
      at: place, for: purpose, environment: environment, until: deadline, unless: cancellation)
    state.starter = starter
    do throws(LinkError) {
      return try starter.fork(request, number: state.request, until: deadline, unless: cancellation)
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .system(let code): throw .cannotBegin(path: starter.path, code: code)
      case .timedOut: throw .doesNotAnswer(path: starter.path)
      case .closed, .invalid: throw .diesAtStart(path: starter.path, ending: .unknown)
      }
    }
  }
}
