// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CLinux
import CodecLink
import Glibc
import H26x

/// The process that an application begins once: it loads libavcodec, and forks a process for each session.
///
/// It has one thread, so that a fork copies all of it, and never touches what a stream brings. It ends with its
/// application, and its sessions' processes end with it (PR_SET_PDEATHSIG).
package final class Starter {
  private let link: LinkSocket
  /// The application.
  private let application: OwnedDescriptor
  /// The layers that this process and all that it forks are behind.
  private let protection: Protection
  private let wall: Sandbox.Wall
  private let process: SessionProcess
  private var sessions: [RunningSession] = []

  /// A session's process.
  private final class RunningSession {
    let process: OwnedDescriptor
    /// The socket for reporting how the process ended.
    let report: LinkSocket

    init(process: consuming OwnedDescriptor, report: consuming LinkSocket) {
      self.process = process
      self.report = report
    }
  }

  /// Serves the application that executed this program, to its end.
  package static func run(_ wall: Sandbox.Wall, _ process: SessionProcess = SessionProcess()) -> Never {
    ResourceLimits.closeDescriptors(from: StarterDescriptor.last + 1)
    bindToApplication()
    do throws(LinkError) {
      try Starter(wall, process).serve()
      _exit(0)
    } catch {
      // Any other error means that the application has ended, or broke the protocol: nothing can be reported to it.
      _exit(error.isDescriptorLimit ? ServiceEnding.descriptorLimitStatus : 1)
    }
  }

  /// Performs the first steps of a starter and of a session's process once, and ends with 0. If this program has
  /// inherited a filter that forbids one of them, the filter ends it before.
  package static func tryOut() -> Never {
    CodecLibrary.preload()
    _ = Sandbox.apply(.software)
    let process = clinux_fork()
    guard process != 0 else {
      guard clinux_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)) == 0 else { _exit(1) }
      _ = SeccompFilter(process: getpid()).install()
      _exit(0)
    }
    let descriptor = process > 0 ? clinux_pidfd_open(process) : -1
    guard descriptor >= 0 else { _exit(3) }
    var (code, status) = (Int32(0), Int32(0))
    guard unsafe clinux_reap(descriptor, 0, &code, &status) == 0 else { _exit(3) }
    // As the child has ended.
    if ServiceEnding(code: code, status: status) == .signalled(SIGSYS) { _exit(3) }
    _exit(0)
  }

  /// Has the kernel kill this process when the application's end of the lifeline closes: the application has ended, or
  /// has given the starter up. That works for a process that is stopped, too.
  private static func bindToApplication() {
    let lifeline = StarterDescriptor.lifeline
    guard fcntl(lifeline, F_SETOWN, getpid()) == 0, fcntl(lifeline, Int32(CLINUX_F_SETSIG), SIGKILL) == 0,
      fcntl(lifeline, F_SETFL, O_ASYNC) == 0
    else { _exit(1) }
    // It may have closed before.
    var state = pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&state, 1, 0) != 0 { _exit(0) }
  }

  private init(_ wall: Sandbox.Wall, _ process: SessionProcess) throws(LinkError) {
    (self.wall, self.process) = (wall, process)
    link = LinkSocket(owning: OwnedDescriptor(owning: StarterDescriptor.link))
    // A process that the application has forked since may hold its ends of link and lifeline, so the starter also
    // watches the application's pidfd.
    let parent = getppid()
    guard clinux_peer(link.rawValue) == parent else { throw .closed }
    application = try Self.open(process: parent)
    guard getppid() == parent else { throw .closed }
    let own = try Self.open(process: getpid())
    CodecLibrary.preload()
    CodecLibrary.silenceLog()
    protection = Sandbox.apply(wall)
    try link.send(ServiceHello(release: "\(ReleaseVersion.text)").bytes.span, descriptors: [own.rawValue])
  }

  private static func open(process: pid_t) throws(LinkError) -> OwnedDescriptor {
    OwnedDescriptor(owning: try LinkError.check(clinux_pidfd_open(process)))
  }

  /// Forks and reports until the application ends.
  private func serve() throws(LinkError) {
    var message = LinkMessage()
    while true {
      let ready = try readiness()
      if ready[1] { return }
      if ready[0] {
        try link.receive(into: &message)
        var reader = MessageReader(message.bytes)
        try begin(number: reader.read(), ServiceRequest(reading: &reader))
      }
      // Sessions that have just begun are at the end, after the polled sessions.
      reportEnded(among: Array(ready.dropFirst(2)))
    }
  }

  /// Waits, and returns which is ready: the link, the application, each session's process.
  private func readiness() throws(LinkError) -> [Bool] {
    var states = [link.rawValue, application.rawValue].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    for session in sessions { states.append(pollfd(fd: session.process.rawValue, events: Int16(POLLIN), revents: 0)) }
    while unsafe poll(&states, UInt(states.count), -1) < 0 {
      guard errno == EINTR else { throw .system(errno) }
    }
    return states.map { $0.revents != 0 }
  }

  /// Reaps the processes that have ended, and reports how.
  private func reportEnded(among ended: [Bool]) {
    guard ended.contains(true) else { return }
    for index in ended.indices where ended[index] {
      var (code, status) = (Int32(0), Int32(0))
      let result = unsafe clinux_reap(sessions[index].process.rawValue, WNOHANG, &code, &status)
      let ending = result == 0 ? ServiceEnding(code: code, status: status) : .unknown
      // Fails if the application no longer receives reports.
      do throws(LinkError) { try sessions[index].report.send(ending.report.span) } catch {}
    }
    sessions = sessions.indices.filter { !(ended.indices.contains($0) && ended[$0]) }.map { sessions[$0] }
  }

  /// Forks a process for a session, and hands its descriptors to the application.
  private func begin(number: UInt32, _ request: ServiceRequest) throws(LinkError) {
    guard wall == .hardware || request.device == nil else { throw .invalid }
    guard let link = Self.sockets(), let report = Self.sockets() else { return try refuse(number, errno) }
    let starter = getpid()
    let child = clinux_fork()
    guard child != 0 else {
      process.run(request, link: link.second.rawValue, starter: starter, protection: protection)
    }
    guard child > 0 else { return try refuse(number, errno) }
    let pidfd = OwnedDescriptor(owning: clinux_pidfd_open(child))
    do throws(LinkError) {
      try LinkError.check(pidfd.rawValue)
      try self.link.send(
        ServiceAnswer(number: number, processIdentifier: child).bytes.span,
        descriptors: [link.first.rawValue, pidfd.rawValue, report.first.rawValue])
    } catch {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
      guard case .system(let code) = error else { throw error }
      return try refuse(number, code)
    }
    sessions.append(RunningSession(process: pidfd, report: LinkSocket(owning: report.second)))
  }

  private static func sockets() -> DescriptorPair? {
    do throws(LinkError) { return try .sockets() } catch { return nil }
  }

  private func refuse(_ number: UInt32, _ code: Int32) throws(LinkError) {
    try link.send(ServiceAnswer(number: number, failure: code).bytes.span)
  }
}
