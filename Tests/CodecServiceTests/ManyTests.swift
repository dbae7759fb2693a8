// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Foundation
import TestSupport
import Testing
import VideoDecoding

/// What many processes leave behind.
@Suite struct ManyTests {
  @Test("Processes one after the other leave descriptors and memory of application and starter as they were")
  func manyProcessesLeakNothing() throws {
    let lines = try Host.lines(["churn", TestScope.isExhaustive ? "1000" : "250"])
    try #require(lines.count == 1, "\(lines)")
    let changes = try #require(lines.first).split(separator: " ").compactMap { Int($0) }
    try #require(changes.count == 4)
    #expect(changes[0] == 0)
    #expect(changes[1] == 0)
    // Allocators keep some pages; a page a process would be a leak.
    #expect(changes[2] < 200)
    #expect(changes[3] < 200)
  }

  @Test("64 processes at once, begun by many threads, all answer; none is left of any")
  func startsManyProcessesAtOnce() async throws {
    let starter = CodecStarter()
    let witnesses = try await withThrowingTaskGroup(of: SessionProcess.self) { group in
      for _ in 0..<64 { group.addTask { try starter.begin(ServiceRequest()) } }
      var processes: [SessionProcess] = []
      for try await process in group { processes.append(process) }
      #expect(Set(processes.map(\.processIdentifier)).count == 64)
      for process in processes { #expect(Service.answers(process)) }
      return try processes.map { try #require(Witness($0.processIdentifier)) }
    }
    for witness in witnesses { witness.waitForEnd() }
  }
}
