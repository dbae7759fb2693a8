// SPDX-License-Identifier: MPL-2.0
import CodecLink
import CodecPeers
import Glibc
import Testing
import VideoDecoding

/// A codec process under somebody else's control tries to escape. Each attempt is denied: the process is ended by its
/// filter, or the call fails.
@Suite struct EscapeTests {
  /// How an attempt ends.
  enum Outcome: Equatable, Sendable {
    /// The filter ends the process.
    case killed
    /// The call fails, and the process goes on.
    case fails(Int32)
  }

  private static let starter = Host.trialStarter("CODEC_TRIAL_ESCAPES=1")

  static let table: [(EscapeAttempt, Outcome)] = [
    // The C library opens files while it decodes and must survive that they are not there.
    (.openFile, .fails(EACCES)),
    (.makeSocket, .killed),
    (.execute, .killed),
    (.trace, .killed),
    (.signalParent, .killed),
    (.signalApplication, .killed),
    (.mapExecutable, .killed),
    (.protectExecutable, .killed),
    (.shrinkMemory, .killed),
    (.punchMemory, .killed),
    (.removePages, .killed),
    // The filter lets mprotect through; the seal of the memory denies it.
    (.writeReadOnlyMemory, .fails(EACCES)),
    (.makeMemory, .killed),
    // RLIMIT_DATA: as any allocation that fails.
    (.fillMemory, .fails(ENOMEM)),
    (.fillSharedMemory, .killed),
    (.fillStackMemory, .killed),
    (.fork, .killed),
    // As with a kernel that does not have it, whereupon the C library takes clone.
    (.forkByClone3, .fails(ENOSYS)),
    (.writeDescriptor, .killed),
    (.clearDeathSignal, .killed),
    (.x32Call, .killed),
    (.call32Bit, .killed),
  ]

  @Test("the table has every attempt once")
  func tableListsEveryAttemptOnce() {
    #expect(Set(Self.table.map(\.0)) == Set(EscapeAttempt.allCases))
    #expect(Self.table.count == EscapeAttempt.allCases.count)
  }

  @Test("every attempt to escape is denied", arguments: table)
  func deniesEveryAttemptToEscape(_ attempt: EscapeAttempt, _ outcome: Outcome) throws {
    // With all protection and little memory.
    let process = try Self.starter.begin(ServiceRequest(memoryLimit: 256 << 20, requiresSandbox: true))
    let size = EscapeAttempt.sharedByteCount
    let writable = try SharedMemory(byteCount: size, peerAccess: .writable)
    let readable = try SharedMemory(byteCount: size, peerAccess: .readable)
    let marks = Array(repeating: UInt8(0x5A), count: size)
    for memory in [writable, readable] { try memory.write(marks.span, at: 0) }
    try process.socket.send([attempt.rawValue].span, descriptors: [writable.rawValue, readable.rawValue])

    var message = LinkMessage()
    switch outcome {
    case .killed:
      #expect(throws: LinkError.closed) { try process.socket.receive(into: &message) }
      #expect(process.ending(within: .seconds(60)) == .signalled(SIGSYS))
    case .fails(let code):
      try process.socket.receive(into: &message)
      var reader = MessageReader(message.bytes)
      #expect(try reader.read(Int32.self) == code)
      #expect(process.ending(within: .seconds(60)) == .exited(0))
    }
    // Whatever was tried, what the application has shared is there.
    for memory in [writable, readable] {
      var bytes = Array(repeating: UInt8(0), count: size)
      var span = bytes.mutableSpan
      try memory.read(at: 0, into: &span)
      #expect(bytes == marks)
    }
  }
}
