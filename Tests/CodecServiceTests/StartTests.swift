// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Foundation
import Glibc
import Testing
import VideoDecoding

@Suite struct StartTests {
  @Test("a process starts, is protected and answers")
  func aProcessStartsProtectedAndAnswers() throws {
    let process = try CodecStarter.begin(limits: ProcessLimits(memory: 1 << 30, sandbox: .required))
    #expect(Service.answers(process))
    #expect(process.protection.isSuperset(of: .essential))
    #expect(process.processIdentifier > 0)
  }

  @Test("a service of another release is refused, and named with its version")
  func refusesAServiceOfAnotherRelease() throws {
    let error = try Service.error(of: "exec '\(Host.program.path)' greet 9.9.9")
    guard case .otherVersion(let path, let found, let expected) = error else {
      Service.recordUnexpected(error)
      return
    }
    #expect(path.contains("h26x-codec-"))
    #expect(found.hasPrefix("9.9.9, protocol "))
    #expect(!expected.hasPrefix("9.9.9"))
  }

  @Test("a program that is no service is refused")
  func refusesAProgramThatIsNoService() throws {
    let error = try Service.error(of: "printf hello >&3; exec sleep 1000")
    guard case .otherVersion(_, let found, _) = error else {
      Service.recordUnexpected(error)
      return
    }
    #expect(found.contains("not a codec service"))
  }

  @Test("a program that ends at once, by itself or by a signal, is an error that has the cause")
  func reportsWhyAProgramEndsAtOnce() throws {
    for (line, ending) in [("exit 3", ServiceEnding.exited(3)), ("kill -SEGV $$", .signalled(SIGSEGV))] {
      let error = try Service.error(of: line)
      guard case .diesAtStart(_, ending) = error else {
        Service.recordUnexpected(error)
        return
      }
    }
  }

  @Test("a program inherits no descriptor of the application, whether or not it closes what it has")
  func inheritsNoDescriptors() throws {
    let file = URL.temporaryDirectory.appending(path: "h26x-descriptors-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    // Without FD_CLOEXEC.
    let inherited = fcntl(STDIN_FILENO, F_DUPFD, 200)
    try #require(inherited >= 200)
    defer { close(inherited) }
    _ = try Service.error(of: "ls /proc/$$/fd > '\(file.path)'; exit 3")
    let listed = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { Int32($0) }
    #expect(listed.contains(3) && !listed.contains { $0 >= 200 }, "\(listed)")
  }

  @Test("a program that does not become ready is given up, and killed")
  func killsAProgramThatDoesNotBecomeReady() throws {
    let file = URL.temporaryDirectory.appending(path: "h26x-silent-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let error = try Service.error(of: "echo $$ > '\(file.path)'; exec sleep 1000", patience: .milliseconds(300))
    guard case .doesNotAnswer = error else {
      Service.recordUnexpected(error)
      return
    }
    // It may not have come to write its number.
    guard let number = (try? String(contentsOf: file, encoding: .utf8)).flatMap({ pid_t($0.dropLast()) }) else {
      return
    }
    Witness(number)?.waitForEnd()
  }

  @Test("a wait for a program that does not become ready can be cancelled")
  func cancelsAWaitForAProgramThatDoesNotBecomeReady() throws {
    let cancellation = try EventDescriptor()
    cancellation.signal()
    try Service.withScript("exec sleep 1000") { location in
      _ = #expect(throws: ServiceError.cancelled) {
        try CodecStarter(at: location).begin(ServiceRequest(), unless: cancellation)
      }
    }
  }

  @Test("a program that cannot be executed is an error with path and reason")
  func reportsAProgramThatCannotBeExecuted() throws {
    // Root may execute nothing either that nobody may.
    let error = try Service.error(of: "exit 0", mode: 0o644)
    guard case .notExecutable(_, EACCES) = error else {
      Service.recordUnexpected(error)
      return
    }
  }

  @Test("a service that is missing is an error that lists where it was looked for")
  func listsWhereItLookedForAMissingService() throws {
    let lines = try Host.lines(["protection"], environment: ["H26X_CODEC_SERVICE": "/nowhere/h26x-codec"])
    #expect(lines.count == 1)
    #expect(lines.first?.contains("is missing (looked for /nowhere/h26x-codec): install it there") == true)
  }

  @Test("the environment variable decides where the service is")
  func environmentVariableDecidesTheService() throws {
    let path = Host.folder.appending(path: "h26x-codec").path
    let lines = try Host.lines(["protection"], environment: ["H26X_CODEC_SERVICE": path])
    #expect(lines.first?.contains("system-call filter") == true)
  }

  /// Of files, in units of 512 bytes.
  @Test(
    "memory beyond the limit of file size is an error and ends no process",
    arguments: [(4096, "made"), (65_536, "made"), (65_537, "too large"), (1 << 20, "too large")])
  func memoryBeyondTheFileSizeLimitIsAnError(byteCount: Int, outcome: String) throws {
    let limited = ["sh", "-c", "ulimit -f 128; exec \"$0\" \"$@\""]
    #expect(try Host.lines(["size", "\(byteCount)"], before: limited) == [outcome, "signal: 0"])
  }

  @Test("each error names path and remedy in one line")
  func everyErrorNamesPathAndRemedy() {
    let path = "/opt/h26x-codec"
    let errors: [ServiceError] = [
      .missing(places: [path]), .notExecutable(path: path, code: EACCES),
      .otherVersion(path: path, found: "1", expected: "2"), .diesAtStart(path: path, ending: .signalled(9)),
      .doesNotAnswer(path: path), .noProtection(path: path, missing: .systemCallFilter),
      .cannotBegin(path: path, code: EAGAIN),
    ]
    for error in errors {
      #expect(error.description.contains(path))
      #expect(!error.description.contains("\n"))
    }
  }

  @Test("a required sandbox that the kernel lacks is an error; a process that does with less reports what is missing")
  func requiredSandboxThatIsMissingIsAnError() throws {
    let starter = Host.trialStarter("CODEC_TRIAL_LACKS_FILTER=1")
    let error = #expect(throws: ServiceError.self) {
      try starter.begin(ServiceRequest(requiresSandbox: true))
    }
    guard case .noProtection(_, .systemCallFilter) = error else {
      Service.recordUnexpected(error)
      return
    }
    let process = try starter.begin(ServiceRequest())
    #expect(!process.protection.contains(.systemCallFilter))
    #expect(process.protection.missing.contains(.systemCallFilter))
    #expect(Service.answers(process))
  }

  /// Whether this kernel lets the test make a namespace in which there can be no more.
  private static let canLimitNamespaces = (try? Host.run("unshare --user --map-root-user true")) == true

  @Test(
    "where no user namespace can be made, the other layers are up, and what is missing is reported",
    .enabled(if: canLimitNamespaces))
  func reportsMissingNamespaces() throws {
    let limited = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    let line =
      "for name in user net mnt ipc uts; do echo 0 > /proc/sys/user/max_${name}_namespaces; done; exec \"$0\" \"$@\""
    let lines = try Host.lines(["protection"], before: limited + [line])
    let layers = lines.first ?? ""
    #expect(layers.contains("system-call filter"))
    #expect(layers.contains("no capabilities"))
    #expect(!layers.contains("namespace"))
  }
}
