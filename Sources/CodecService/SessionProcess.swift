// SPDX-License-Identifier: MPL-2.0
import CLinux
package import CodecLink
import Glibc

/// A session's process, seen from inside. The application's side is the `SessionProcess` of `VideoDecoding`.
package struct SessionProcess: Sendable {
  /// Whether it puts up the filter of system calls. Only tests leave it out.
  package var installsFilter = true
  /// Its work once it is protected; it never returns.
  package var serve: @Sendable (consuming LinkSocket, OpenedDevice?) -> Never = serveSession

  /// A process that serves its session.
  package init() {}

  /// Puts up the protection that is left to put up, reports it, and serves the session.
  ///
  /// - Parameters:
  ///   - link: the descriptor of the session's socket.
  ///   - starter: the process that has forked this one.
  ///   - protection: the protection that it was born with.
  func run(_ request: ServiceRequest, link: Int32, starter: pid_t, protection: Protection) -> Never {
    // The starter has one thread, so its death is the death of the process. The kernel then kills this process, even
    // if it is stopped or hangs.
    guard clinux_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)) == 0, getppid() == starter,
      // Keeps nothing of the starter's: neither its link nor other sessions'.
      dup2(link, StarterDescriptor.link) == StarterDescriptor.link
    else { _exit(1) }
    ResourceLimits.closeDescriptors(from: StarterDescriptor.link + 1)
    Self.resetSignals()
    let socket = LinkSocket(owning: OwnedDescriptor(owning: StarterDescriptor.link))

    // Before the filter: a driver executes code that it loads, and makes threads and memory at its discretion.
    var protection = protection
    if request.device != nil { protection.formUnion(Sandbox.leaveDriverFiles()) }
    let opened = request.device.map(OpenedDevice.init)
    if request.device == nil {
      protection.formUnion(ResourceLimits.limitMemory(to: request.memoryLimit))
    } else {
      // The memory that a driver reserves is no measure of what decoding takes, so it is not limited.
      ResourceLimits.hide()
    }
    let filter = SeccompFilter(process: getpid(), allowsDriver: request.device != nil)
    if installsFilter, filter.install() { protection.insert(.systemCallFilter) }
    do throws(LinkError) {
      try socket.send(ServiceReady(protection: protection, device: opened?.report ?? .none).bytes.span)
    } catch { _exit(1) }
    // The application reports what failed.
    if case .failed = opened?.report { _exit(0) }
    // The application reports the missing protection.
    if request.requiresSandbox, !protection.isSuperset(of: .essential) { _exit(0) }
    serve(socket, opened)
  }

  /// Takes away the handlers of the Swift runtime, which would execute a debugger when this process crashes: the filter
  /// would end it, and hide why. A sanitizer's own stay.
  private static func resetSignals() {
    guard !ResourceLimits.isSanitized else { return }
    for number in 1..<Int32(NSIG) { signal(number, SIG_DFL) }
  }
}
