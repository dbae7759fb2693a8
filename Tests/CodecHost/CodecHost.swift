// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc
import VideoDecoding

/// An application that decodes in other processes. Tests end it, and change its signals and its rights. It prints its
/// observations, one per line.
@main enum CodecHost {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.dropFirst().first) {
    case ("hold", let count): try hold(Int(count ?? "") ?? 1)
    case ("signals", "ignored"): try endUnderSignals(ignored: true)
    case ("signals", _): try endUnderSignals(ignored: false)
    case ("fork", _): try useInFork()
    case ("churn", let count): try churn(Int(count ?? "") ?? 1)
    case ("protection", _): showProtection()
    case ("greet", let release): try greet(release: release ?? "")
    case ("deny", _): Denial.run(Array(arguments.dropFirst()))
    case ("verdict", _): Denial.showVerdict(Array(arguments.dropFirst()))
    case ("size", let count): sizeMemory(Int(count ?? "") ?? 0)
    case ("fail", _): ChildTrial.failToBegin()
    case ("lose", _): try ChildTrial.loseStarters()
    case ("log", let place):
      try LogTrial.run(isIsolated: place == "process", setsCallback: arguments.contains("callback"))
    default: exit(64)
    }
  }

  /// Prints without a buffer, which a process that is killed would not write.
  static func show(_ text: String) {
    unsafe [UInt8]("\(text)\n".utf8).withUnsafeBytes { _ = unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// Begins processes, prints the numbers of the starter's and of theirs, and waits to be killed.
  private static func hold(_ count: Int) throws(ServiceError) {
    var processes: [SessionProcess] = []
    for _ in 0..<count { processes.append(try CodecStarter.begin(limits: ProcessLimits())) }
    show("\(CodecStarter.shared.processIdentifier ?? 0)")
    for process in processes { show("\(process.processIdentifier)") }
    show("ready")
    while true { pause() }
  }

  /// Begins and ends processes, one after the other. Prints the growth of the application's descriptors, of the
  /// starter's descriptors, and of the resident pages of both.
  private static func churn(_ count: Int) throws(ServiceError) {
    func begin(_ count: Int) throws(ServiceError) {
      for index in 0..<count {
        let process = try CodecStarter.begin(limits: ProcessLimits())
        if index % 100 == 0, !answers(process) { show("no answer") }
        process.kill()
        // The starter reports once it has reaped.
        if process.ending(within: .seconds(60)) != .signalled(SIGKILL) { show("not killed") }
      }
    }
    func usage() -> [Int] {
      let starter = CodecStarter.shared.processIdentifier ?? 0
      // While it sleeps it has closed what belonged to the processes that have ended.
      while !sleeps(starter) { usleep(1000) }
      return [entries("/proc/self/fd"), entries("/proc/\(starter)/fd"), pages("self"), pages("\(starter)")]
    }
    try begin(10)
    let before = usage()
    try begin(count)
    show(zip(usage(), before).map { "\($0 - $1)" }.joined(separator: " "))
  }

  /// The number of files in a folder; 0 if it cannot be read.
  private static func entries(_ folder: String) -> Int {
    guard let folder = unsafe opendir(folder) else { return 0 }
    defer { unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    return count
  }

  /// Whether a process waits.
  private static func sleeps(_ process: pid_t) -> Bool {
    // The state follows the name, which is in parentheses.
    contents("/proc/\(process)/stat").split(separator: ")").last?.hasPrefix(" S") ?? true
  }

  /// The resident pages of a process.
  private static func pages(_ process: String) -> Int {
    let words = contents("/proc/\(process)/statm").split(separator: " ")
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
  }

  /// The first bytes of a file of the kernel's.
  static func contents(_ path: String) -> String {
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  nonisolated(unsafe) private static var signalCount = 0

  /// Ends processes and starters while SIGCHLD is ignored, or handled by the application.
  private static func endUnderSignals(ignored: Bool) throws(ServiceError) {
    var action = sigaction()
    if ignored {
      unsafe action.__sigaction_handler.sa_handler = SIG_IGN
    } else {
      unsafe action.__sigaction_handler.sa_handler = { _ in unsafe CodecHost.signalCount += 1 }
    }
    unsafe sigaction(SIGCHLD, &action, nil)
    let first = try CodecStarter.begin(limits: ProcessLimits())
    first.kill()
    show("killed: \(first.ending(within: .seconds(60)))")
    show("signals: \(unsafe signalCount)")
    if let starter = CodecStarter.shared.processIdentifier { kill(starter, SIGKILL) }
    let second = try CodecStarter.begin(limits: ProcessLimits())
    show("answers: \(answers(second))")
    var now = sigaction()
    unsafe sigaction(SIGCHLD, nil, &now)
    let isSame =
      unsafe unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    show("handler: \(isSame ? "the same" : "changed")")
    show("children: \(waitpid(-1, nil, WNOHANG) > 0 ? "some" : "none")")
  }

  private static func answers(_ process: SessionProcess) -> Bool {
    do throws(LinkError) {
      var message = LinkMessage()
      var command = MessageWriter()
      CodecCommand.drain.write(to: &command)
      try process.socket.send(command.bytes.span)
      try process.socket.receive(into: &message)
      return message.bytes.count > 0
    } catch { return false }
  }

  /// Begins a process, forks, and has the fork begin and end its own.
  private static func useInFork() throws(ServiceError) {
    let process = try CodecStarter.begin(limits: ProcessLimits())
    let starter = CodecStarter.shared.processIdentifier
    let fork = clinux_fork()
    if fork == 0 {
      do throws(ServiceError) {
        let own = try CodecStarter.begin(limits: ProcessLimits())
        show("fork answers: \(answers(own))")
        show("fork's starter: \(CodecStarter.shared.processIdentifier == starter ? "the same" : "another")")
      } catch { show("\(error)") }
      process.kill()
      exit(0)
    }
    waitpid(fork, nil, 0)
    show("application answers: \(answers(process))")
  }

  /// Makes memory of a size, and prints what has come of it and of the signal that a limit sends.
  private static func sizeMemory(_ byteCount: Int) {
    do throws(LinkError) {
      _ = try SharedMemory(byteCount: byteCount, peerAccess: .writable)
      show("made")
    } catch { show(error == .system(EFBIG) ? "too large" : "\(error)") }
    var pending = sigset_t()
    unsafe sigpending(&pending)
    show("signal: \(unsafe sigismember(&pending, SIGXFSZ))")
  }

  private static func showProtection() {
    do throws(ServiceError) {
      let process = try CodecStarter.begin(limits: ProcessLimits(memory: 1 << 30))
      show("\(process.protection)")
    } catch { show("\(error)") }
  }

  /// Plays a service of another release.
  private static func greet(release: String) throws(LinkError) {
    let link = LinkSocket(owning: OwnedDescriptor(owning: StarterDescriptor.link))
    let own = OwnedDescriptor(owning: try LinkError.check(clinux_pidfd_open(getpid())))
    try link.send(ServiceHello(release: release).bytes.span, descriptors: [own.rawValue])
    pause()
  }
}
