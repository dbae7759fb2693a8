// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import CodecPeers
import CodecService
import Foundation
import Glibc
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// What an application that breaks the protocol may have a codec process do: it ends, or answers with an error.
@Suite struct LyingApplicationTests {
  /// Serves in this process what is sent to it; returns why that has ended.
  private func end(of session: (borrowing LinkSocket) throws -> Void) throws -> LinkError? {
    let sockets = try DescriptorPair.sockets()
    nonisolated(unsafe) var ending: LinkError?
    let descriptor = sockets.second.release()
    let server = Thread {
      let socket = LinkSocket(owning: OwnedDescriptor(owning: descriptor))
      do throws(LinkError) { try CodecServer.serve(socket) } catch { unsafe ending = error }
    }
    server.start()
    do {
      let socket = LinkSocket(owning: sockets.first)
      try session(socket)
      // The process reads remaining messages before the end.
      shutdown(socket.rawValue, Int32(SHUT_WR))
      var message = LinkMessage()
      while (try? socket.receive(into: &message)) != nil {}
    }
    while !server.isFinished { usleep(100) }
    return unsafe ending
  }

  private func send(
    _ command: CodecCommand, _ socket: borrowing LinkSocket, _ descriptors: [Int32] = []
  ) throws {
    var writer = MessageWriter()
    command.write(to: &writer)
    try socket.send(writer, descriptors: descriptors)
  }

  /// Receives answers that are an error and nothing else.
  private func expectErrors(_ count: Int, _ socket: borrowing LinkSocket) throws {
    var message = LinkMessage()
    for _ in 0..<count {
      try socket.receive(into: &message)
      var reader = MessageReader(message.bytes)
      guard case .finished(.some(.invalidArgument), _, _) = try CodecReply(reading: &reader) else {
        Issue.record("no error")
        return
      }
      try reader.finish()
    }
  }

  @Test func commandsBeforeADecoderAreAnsweredWithAnError() throws {
    let ending = try end { socket in
      try send(.drain, socket)
      try send(.flush, socket)
      try send(.skip(.nonKey), socket)
      try send(.decode(index: 0, offset: 0, byteCount: 10), socket)
      try expectErrors(2, socket)
    }
    #expect(ending == .closed)
  }

  @Test func skipsCommandsAfterAFailure() throws {
    let ending = try end { socket in
      var writer = MessageWriter()
      // The descriptor that belongs to it is missing, which would end the process.
      for command in [CodecCommand.decode(index: 0, offset: 0, byteCount: 1), .drain, .replaceMemory(byteCount: 1)] {
        command.write(to: &writer)
      }
      try socket.send(writer)
      try send(.drain, socket)
      try expectErrors(2, socket)
    }
    #expect(ending == .closed)
  }

  @Test func memoryOfAnotherSizeEndsTheProcess() throws {
    let memory = try SharedMemory(byteCount: 4096, peerAccess: .readable)
    let pair = try DescriptorPair.sockets()
    let ending = try end { socket in
      try send(
        .open(CodecSettings(codec: .h264), .native, memoryByteCount: 1 << 20), socket,
        [pair.second.rawValue, memory.rawValue])
    }
    #expect(ending == .invalid)
  }

  /// As the fuzz subject "codec-application".
  @Test(arguments: LyingProcessTests.seeds) func randomBytesNeverTrap(_ seed: Int) throws {
    var random = SeededGenerator(state: UInt64(seed))
    for _ in 0..<50 { try LyingApplication.run((0..<random.below(2000)).map { _ in UInt8(random.below(256)) }) }
  }
}
