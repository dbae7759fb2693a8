// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
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
      // What it has not read yet it reads before the end.
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

  @Test func commandsBeforeADecoderAreAnsweredWithAnError() throws {
    let ending = try end { socket in
      try send(.drain, socket)
      try send(.flush, socket)
      try send(.skip(.nonKey), socket)
      try send(.decode(index: 0, byteCount: 10), socket)
      var message = LinkMessage()
      for _ in 0..<2 {
        try socket.receive(into: &message)
        var reader = MessageReader(message.bytes)
        guard case .finished(.some(.invalidArgument), _, _) = try CodecReply(reading: &reader) else {
          Issue.record("no error")
          return
        }
      }
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

  @Test(arguments: LyingProcessTests.seeds) func anythingAtAllDoesNoHarm(_ seed: Int) throws {
    var random = SeededGenerator(state: UInt64(seed))
    for _ in 0..<50 {
      let memory = try SharedMemory(byteCount: 1 << 16, peerAccess: .readable)
      let pair = try DescriptorPair.sockets()
      let noise = (0..<1 << 10).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      try memory.write(([0, 0, 0, 1, 0x65] + noise).span, at: 0)
      _ = try end { socket in
        // A decoder that waits for memory gets none.
        defer { shutdown(pair.first.rawValue, Int32(SHUT_RDWR)) }
        if random.next() % 4 > 0 {
          var settings = CodecSettings(codec: random.next() % 2 == 0 ? .h264 : .h265)
          settings.threadCount = Int(random.next() % 4)
          try? send(
            .open(settings, .semiPlanar, memoryByteCount: 1 << 16), socket, [pair.second.rawValue, memory.rawValue])
        }
        for _ in 0..<random.next() % 12 {
          var writer = MessageWriter()
          command(&random).write(to: &writer)
          var bytes = writer.bytes
          if random.next() % 3 == 0 {
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
          }
          // Fails once it has ended.
          try? socket.send(bytes.span, descriptors: random.next() % 5 == 0 ? [memory.rawValue] : [])
        }
      }
    }
  }

  private func command(_ random: inout SeededGenerator) -> CodecCommand {
    switch random.next() % 6 {
    case 0: .drain
    case 1: .flush
    case 2: .skip(.nonKey)
    case 3:
      .decodeInNewMemory(index: random.next() % 9, byteCount: Int(random.next() % 3000), memoryByteCount: 1 << 16)
    default: .decode(index: random.next() % 9, byteCount: Int(random.next() % 70_000))
    }
  }
}
