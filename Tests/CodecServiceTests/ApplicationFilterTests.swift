// SPDX-License-Identifier: MPL-2.0
import Testing

/// Whether an application that is itself behind a filter of system calls may begin a codec's process.
@Suite struct ApplicationFilterTests {
  /// Numbers of x86-64 and of aarch64.
  private static let calls: [String: (x86: Int, arm: Int)] = [
    "execve": (59, 221), "socketpair": (53, 199), "memfd_create": (319, 279), "pidfd_open": (434, 434),
    // The loader's, of every program that is executed.
    "prlimit64": (302, 261),
    // What the service confines itself by.
    "unshare": (272, 97), "seccomp": (317, 277),
  ]

  private static func number(_ call: String) -> String {
    guard let numbers = calls[call] else { return "" }
    #if arch(x86_64)
      return "\(numbers.x86)"
    #else
      return "\(numbers.arm)"
    #endif
  }

  @Test("without a filter, and with one that allows the required calls, a process may start")
  func allowsStartsWithoutAForbiddingFilter() throws {
    #expect(try Host.lines(["verdict"]) == ["forbidden: false"])
    #expect(try Host.lines(["verdict", "38", "9999"]) == ["forbidden: false"])
  }

  /// An application survives the question.
  @Test("if a required call ends the process, no process may start", arguments: calls.keys.sorted())
  func forbidsStartsIfARequiredCallEndsTheProcess(call: String) throws {
    #expect(try Host.lines(["verdict", "kill", Self.number(call)]) == ["forbidden: true"])
  }

  @Test(
    "if a required call fails, no process may start", arguments: ["execve", "socketpair", "memfd_create", "pidfd_open"])
  func forbidsStartsIfARequiredCallFails(call: String) throws {
    #expect(try Host.lines(["verdict", "1", Self.number(call)]) == ["forbidden: true"])
    #expect(try Host.lines(["verdict", "38", Self.number(call)]) == ["forbidden: true"])
  }
}
