// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc
import H26x

/// The process that loads libavcodec once, and forks a process for each session. It ends with its last reference.
final class StarterProcess: Sendable {
  /// The path of its program.
  let path: String
  /// Its number, to be shown; signals are sent by descriptor.
  let processIdentifier: Int32
  private let link: LinkSocket
  private let process: OwnedDescriptor
  /// When it is closed, the kernel kills the process, even if the application ends while the process is stopped.
  private let lifeline: OwnedDescriptor
  /// The application's process. A process that is forked from it inherits the descriptors, but not the starter.
  private let owner: pid_t

  /// The kind of decoder that its processes use.
  package enum Purpose: Sendable {
    case software
    case hardware

    var argument: String {
      switch self {
      case .software: "--starter"
      case .hardware: "--hardware-starter"
      }
    }

    /// Whether the starter gets an environment variable: the paths of libraries, and the sanitizers' options. For a
    /// device, it also gets the variables that its driver and the X display's library read.
    func isPassed(_ variable: String) -> Bool {
      switch variable {
      case "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS": true
      case "DISPLAY", "XAUTHORITY", "CUDA_VISIBLE_DEVICES": self == .hardware
      default: self == .hardware && variable.hasPrefix("LIBVA_")
      }
    }
  }

  /// Executes the program and waits until it is ready.
  init(
    at location: CodecServiceLocation, for purpose: Purpose, environment: [String] = [], until deadline: Deadline,
    unless cancellation: EventDescriptor?
  ) throws(ServiceError) {
    path = location.text
    owner = getpid()
    let spawned: Spawned
    do throws(LinkError) {
      let sockets = try DescriptorPair.sockets()
      let lifeline = try DescriptorPair.pipe()
      spawned = try Self.spawn(
        location, for: purpose, environment: environment, link: sockets.second.rawValue,
        lifeline: lifeline.first.rawValue)
      link = LinkSocket(owning: sockets.first)
      self.lifeline = lifeline.second
    } catch .system(let code) {
      throw Self.error(ofSpawning: location, code: code)
    } catch { throw .cannotBegin(path: location.text, code: EIO) }
    processIdentifier = spawned.number

    var message = LinkMessage(descriptorCount: 1)
    let hello: ServiceHello
    do throws(LinkError) {
      try link.receive(into: &message, until: deadline, unless: cancellation)
      hello = try ServiceHello(reading: message.bytes)
    } catch {
      throw Self.error(ofStarting: spawned.process, number: spawned.number, at: location, error)
    }
    let release = String(decoding: hello.release, as: UTF8.self)
    guard hello.protocolNumber == ServiceHello.protocolNumber, release == "\(ReleaseVersion.text)",
      let descriptor = message.takeDescriptor()
    else {
      Self.end(spawned.process, number: spawned.number)
      throw .otherVersion(
        path: path, found: "\(release), protocol \(hello.protocolNumber)",
        expected: "\(ReleaseVersion.text), protocol \(ServiceHello.protocolNumber)")
    }
    // The starter's own descriptor is reliable. If the starter had ended and the application had reaped it, the
    // number from which `spawned.process` was opened might have been another process's.
    self.process = descriptor
  }

  deinit {
    guard owner == getpid() else { return }
    Self.end(process, number: processIdentifier)
  }
}

// MARK: Requests

extension StarterProcess {
  /// Whether this process has started it, and not a process that this one was forked from.
  var isOwn: Bool { owner == getpid() }

  /// Has a process forked. One request at a time.
  ///
  /// - Parameter number: another one for each request.
  /// - Throws: `LinkError.system` if it could not be forked, `cancelled`; any other if the starter is no longer
  ///   usable.
  func fork(
    _ request: ServiceRequest, number: UInt32, until deadline: Deadline, unless cancellation: EventDescriptor?
  ) throws(LinkError) -> ForkedProcess {
    try link.send(request.bytes(number: number).span, until: deadline, unless: cancellation)
    var message = LinkMessage(descriptorCount: 3)
    while true {
      try link.receive(into: &message, until: deadline, unless: cancellation)
      let answer = try ServiceAnswer(reading: message.bytes)
      // The answer to a request whose wait was cancelled: the process ends, because its connection closes.
      guard answer.number == number else { continue }
      guard let identifier = answer.processIdentifier else { throw .system(answer.code) }
      guard let socket = message.takeDescriptor(), let process = message.takeDescriptor(),
        let report = message.takeDescriptor()
      else { throw .invalid }
      return ForkedProcess(
        processIdentifier: identifier, path: path, socket: LinkSocket(owning: socket), process: process,
        report: LinkSocket(owning: report))
    }
  }
}

// MARK: Starting

extension StarterProcess {
  /// A process that was executed.
  private struct Spawned: ~Copyable {
    let number: pid_t
    let process: OwnedDescriptor
  }

  /// Executes the program in a session of its own, which a terminal's interrupt does not reach, with default signals.
  private static func spawn(
    _ location: CodecServiceLocation, for purpose: Purpose, environment added: [String], link: Int32, lifeline: Int32
  ) throws(LinkError) -> Spawned {
    // Above all numbers that are assigned below.
    let link = try duplicate(link)
    let lifeline = try duplicate(lifeline)
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    var signals = sigset_t()
    var code = unsafe posix_spawn_file_actions_init(&actions)
    guard code == 0 else { throw .system(code) }
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    code = unsafe posix_spawnattr_init(&attributes)
    guard code == 0 else { throw .system(code) }
    defer { unsafe posix_spawnattr_destroy(&attributes) }

    for descriptor in STDIN_FILENO...STDERR_FILENO {
      code |= unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    code |= unsafe posix_spawn_file_actions_adddup2(&actions, link.rawValue, StarterDescriptor.link)
    code |= unsafe posix_spawn_file_actions_adddup2(&actions, lifeline.rawValue, StarterDescriptor.lifeline)
    // Descriptors of the application that an executed program inherits, such as the ends of its pipes.
    code |= unsafe clinux_spawn_close_from(&actions, StarterDescriptor.last + 1)
    unsafe sigemptyset(&signals)
    code |= unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    code |= unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | Int32(CLINUX_POSIX_SPAWN_SETSID)
    code |= unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    guard code == 0 else { throw .system(ENOMEM) }

    let path = location.path.map { CChar(bitPattern: $0) } + [0]
    let names = added.map { $0.prefix { $0 != "=" } }
    let passed = environment().filter { variable in
      let name = variable.prefix { $0 != "=" }
      return purpose.isPassed(String(name)) && !names.contains(name)
    }
    let environment = passed + added
    var process = pid_t()
    code = unsafe withStrings([CodecServiceLocation.name, purpose.argument]) { arguments in
      unsafe withStrings(environment) { environment in
        unsafe posix_spawn(&process, path, &actions, &attributes, arguments, environment)
      }
    }
    guard code == 0 else { throw .system(code) }
    let descriptor = clinux_pidfd_open(process)
    guard descriptor >= 0 else {
      let error = LinkError.last
      // Nothing but its number is known of it.
      kill(process, SIGKILL)
      while waitpid(process, nil, 0) < 0, errno == EINTR {}
      throw error
    }
    return Spawned(number: process, process: OwnedDescriptor(owning: descriptor))
  }

  /// The application's environment.
  private static func environment() -> [String] {
    var strings: [String] = []
    var next = unsafe environ
    while let string = unsafe next.pointee {
      unsafe strings.append(String(cString: string))
      unsafe next += 1
    }
    return strings
  }

  private static func duplicate(_ descriptor: Int32) throws(LinkError) -> OwnedDescriptor {
    OwnedDescriptor(owning: try LinkError.check(fcntl(descriptor, F_DUPFD_CLOEXEC, StarterDescriptor.last + 1)))
  }

  /// Calls `body` with strings as C has them, with a null pointer behind the last.
  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    return unsafe body(copies + [nil])
  }

  /// Kills a starter, and reaps it unless it is reaped elsewhere. The processes that it has forked end with it. They
  /// are reaped here if the application has become their parent, as the first process of a container does.
  private static func end(_ process: borrowing OwnedDescriptor, number: pid_t) {
    clinux_pidfd_send_signal(process.rawValue, SIGKILL)
    _ = reap(process)
    reapOrphans(of: number)
  }

  /// Reaps the children of this process that are in the group of a starter, for whose end it waits a second at most.
  private static func reapOrphans(of starter: pid_t) {
    let deadline = Deadline(after: .seconds(1))
    while true {
      let orphan = waitpid(-starter, nil, WNOHANG)
      if orphan < 0, errno != EINTR { return }
      guard orphan == 0 else { continue }
      guard deadline.pollTimeout != 0 else { return }
      usleep(1000)
    }
  }

  /// Reaps a process that ends, for whose end it waits a second at most: the kernel may be busy with its memory.
  private static func reap(_ process: borrowing OwnedDescriptor) -> ServiceEnding {
    let deadline = Deadline(after: .seconds(1))
    var state = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&state, 1, deadline.pollTimeout) < 0, errno == EINTR {}
    var (code, status) = (Int32(0), Int32(0))
    // ECHILD if the application ignores SIGCHLD, or has reaped it.
    guard unsafe clinux_reap(process.rawValue, WNOHANG, &code, &status) == 0 else { return .unknown }
    return ServiceEnding(code: code, status: status)
  }

  /// The failure to execute the program.
  private static func error(ofSpawning location: CodecServiceLocation, code: Int32) -> ServiceError {
    switch code {
    case EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSYS: .cannotBegin(path: location.text, code: code)
    default: .notExecutable(path: location.text, code: code)
    }
  }

  /// The failure of a program that was executed and did not become ready.
  private static func error(
    ofStarting process: borrowing OwnedDescriptor, number: pid_t, at location: CodecServiceLocation, _ error: LinkError
  ) -> ServiceError {
    // A starter that has closed its link usually ends by itself; report how.
    let ending = error == .closed ? reap(process) : .unknown
    if ending == .exited(ServiceEnding.descriptorLimitStatus) { return .cannotBegin(path: location.text, code: EMFILE) }
    if ending != .unknown { return .diesAtStart(path: location.text, ending: ending) }
    end(process, number: number)
    return switch error {
    case .timedOut: .doesNotAnswer(path: location.text)
    case .cancelled: .cancelled
    case .system(let code): .cannotBegin(path: location.text, code: code)
    case .closed: .diesAtStart(path: location.text, ending: .unknown)
    case .invalid:
      .otherVersion(
        path: location.text, found: "unknown, because it is not a codec service",
        expected: "\(ReleaseVersion.text), protocol \(ServiceHello.protocolNumber)")
    }
  }
}
