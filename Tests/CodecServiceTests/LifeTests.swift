// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Foundation
import Glibc
import Testing
import VideoDecoding

@Suite struct LifeTests {
  @Test("a process that is killed is noticed, and its cause known", arguments: [SIGKILL, SIGSEGV, SIGABRT])
  func noticesAKilledProcessAndItsCause(signal: Int32) throws {
    let process = try CodecStarter.begin(limits: ProcessLimits())
    kill(process.processIdentifier, signal)
    var message = LinkMessage()
    #expect(throws: LinkError.closed) { try process.socket.receive(into: &message) }
    #expect(process.ending(within: .seconds(60)) == .signalled(signal))
  }

  @Test("a process ends by itself when its connection closes")
  func aProcessEndsWhenItsConnectionCloses() throws {
    let process = try CodecStarter.begin(limits: ProcessLimits())
    shutdown(process.socket.rawValue, Int32(SHUT_RDWR))
    #expect(process.ending(within: .seconds(60)) == .exited(0))
  }

  @Test("a stopped process does not answer, and is killed all the same")
  func killsAStoppedProcess() throws {
    let process = try CodecStarter.begin(limits: ProcessLimits())
    kill(process.processIdentifier, SIGSTOP)
    // The process may still have answered messages that were sent before it stopped.
    var message = LinkMessage()
    try process.socket.send([UInt8(1)].span)
    let error = #expect(throws: LinkError.self) {
      while true { try process.socket.receive(into: &message, until: Deadline(after: .milliseconds(100))) }
    }
    #expect(error == .timedOut)
    process.kill()
    #expect(process.ending(within: .seconds(60)) == .signalled(SIGKILL))
  }

  @Test("releasing the last reference ends a process, even a stopped one", arguments: [false, true])
  func releasingTheLastReferenceEndsTheProcess(isStopped: Bool) throws {
    var process: SessionProcess? = try CodecStarter.begin(limits: ProcessLimits())
    let number = process?.processIdentifier ?? 0
    let witness = try #require(Witness(number))
    if isStopped { kill(number, SIGSTOP) }
    process = nil
    witness.waitForEnd()
  }

  @Test("a starter that was killed is replaced, and its processes end with it")
  func replacesAKilledStarter() throws {
    let starter = CodecStarter()
    let first = try starter.begin(ServiceRequest())
    let stopped = try starter.begin(ServiceRequest())
    kill(stopped.processIdentifier, SIGSTOP)
    let witnesses = try [first, stopped].map { try #require(Witness($0.processIdentifier)) }
    let number = try #require(starter.processIdentifier)
    kill(number, SIGKILL)
    for witness in witnesses { witness.waitForEnd() }
    #expect(first.ending() == .unknown)
    let second = try starter.begin(ServiceRequest())
    #expect(Service.answers(second))
    #expect(starter.processIdentifier != number)
  }

  @Test("a starter that is stopped is replaced")
  func replacesAStoppedStarter() throws {
    let starter = CodecStarter()
    let first = try starter.begin(ServiceRequest())
    let number = try #require(starter.processIdentifier)
    let witness = try #require(Witness(number))
    kill(number, SIGSTOP)
    let second = try starter.begin(ServiceRequest())
    #expect(Service.answers(second))
    witness.waitForEnd()
    #expect(!Service.answers(first))
  }

  @Test("a wait for a stopped starter can be cancelled, and its request does not take effect later")
  func cancelsAWaitForAStoppedStarter() throws {
    let starter = CodecStarter()
    let first = try starter.begin(ServiceRequest())
    let number = try #require(starter.processIdentifier)
    kill(number, SIGSTOP)
    let cancellation = try EventDescriptor()
    cancellation.signal()
    #expect(throws: ServiceError.cancelled) { try starter.begin(ServiceRequest(), unless: cancellation) }
    kill(number, SIGCONT)
    let second = try starter.begin(ServiceRequest())
    #expect(starter.processIdentifier == number)
    #expect(Service.answers(first))
    #expect(Service.answers(second))
    #expect(first.processIdentifier != second.processIdentifier)
  }

  @Test(
    "an application that is killed leaves no process, whichever are stopped",
    arguments: [[], [1], [0], [0, 1, 2]])
  func aKilledApplicationLeavesNoProcess(stopped: [Int]) throws {
    let host = try Host(["hold", "2"])
    // The starter's, and two sessions'.
    let numbers = host.lines().compactMap { pid_t($0) }
    try #require(numbers.count == 3)
    let witnesses = try numbers.map { try #require(Witness($0)) }
    for index in stopped { kill(numbers[index], SIGSTOP) }
    kill(host.process.processIdentifier, SIGKILL)
    for witness in witnesses { witness.waitForEnd() }
    host.process.waitUntilExit()
  }

  @Test("signals of the application: its handler of SIGCHLD stays, and no session's end calls it")
  func keepsTheApplicationsSIGCHLDHandler() throws {
    #expect(
      try Host.lines(["signals"]) == [
        "killed: ended by signal 9 (Killed)", "signals: 0", "answers: true", "handler: the same", "children: none",
      ])
  }

  @Test("signals of the application: where SIGCHLD is ignored, it stays so, and causes are known all the same")
  func reportsCausesWhileSIGCHLDIsIgnored() throws {
    #expect(
      try Host.lines(["signals", "ignored"]) == [
        "killed: ended by signal 9 (Killed)", "signals: 0", "answers: true", "handler: the same", "children: none",
      ])
  }

  @Test("a fork of the application begins processes of its own, and ends none of its parent's")
  func aForkedApplicationStartsItsOwnProcesses() throws {
    #expect(
      try Host.lines(["fork"]) == ["fork answers: true", "fork's starter: another", "application answers: true"])
  }

  @Test("the starter is in a session of its own, so that a terminal's interrupt does not reach it")
  func starterHasItsOwnSession() throws {
    let starter = CodecStarter()
    let process = try starter.begin(ServiceRequest())
    let number = try #require(starter.processIdentifier)
    #expect(getsid(number) == number)
    #expect(getsid(process.processIdentifier) == number)
  }
}
