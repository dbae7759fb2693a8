// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import CodecService
import Foundation
import Glibc
import TestSupport
import VideoDecoding

/// An application that sends a codec process whatever an input decides. The process is a thread of this one.
///
/// Wrong is a trap, a sanitizer's report, and a process that never ends.
public enum LyingApplication {
  /// Serves one input.
  public static func run(_ input: [UInt8]) throws {
    let sockets = try DescriptorPair.sockets()
    let descriptor = sockets.second.release()
    let server = Thread {
      let socket = LinkSocket(owning: OwnedDescriptor(owning: descriptor))
      do throws(LinkError) { try CodecServer.serve(socket) } catch {}
    }
    server.stackSize = 1 << 20
    server.start()
    let application = try Application(ByteDecisions(input), LinkSocket(owning: sockets.first))
    application.run()
    application.end()
    while !server.isFinished { usleep(20) }
  }

  private final class Application {
    private var decisions: ByteDecisions
    private let socket: LinkSocket
    private let memory: SharedMemory
    private let grants: LinkSocket
    private let grantsOfProcess: OwnedDescriptor
    private var stream: RandomH264Stream
    private var message = LinkMessage()
    private var index: UInt64 = 0

    private static let memoryByteCount = 1 << 16

    init(_ decisions: ByteDecisions, _ socket: consuming LinkSocket) throws(LinkError) {
      var decisions = decisions
      stream = RandomH264Stream(&decisions)
      self.decisions = decisions
      self.socket = socket
      memory = try SharedMemory(byteCount: Self.memoryByteCount, peerAccess: .readable)
      let pair = try DescriptorPair.sockets()
      grants = LinkSocket(owning: pair.first)
      grantsOfProcess = pair.second
    }

    func run() {
      if !decisions.oneIn(16) { open() }
      while !decisions.isAtEnd, index < 60 {
        index += 1
        command()
      }
    }

    private func open() {
      var settings = CodecSettings(codec: decisions.oneIn(8) ? .h265 : .h264)
      settings.useFrameThreads = decisions.oneIn(8)
      settings.threadCount = settings.useFrameThreads ? 2 : 1
      settings.lowDelay = decisions.oneIn(4)
      settings.reorderDepth = decisions.below(17)
      settings.surfaceCount = decisions.oneIn(4) ? decisions.below(200) : 0
      settings.maximumPixels = decisions.oneIn(4) ? decisions.below(256) * 16 : 1 << 20
      let byteCount = decisions.oneIn(8) ? decisions.below(256) : Self.memoryByteCount
      send(
        .open(settings, decisions.oneIn(2) ? .semiPlanar : .native, memoryByteCount: byteCount),
        decisions.oneIn(16) ? [memory.rawValue] : [grantsOfProcess.rawValue, memory.rawValue])
      receiveAnswer()
    }

    private func command() {
      switch decisions.below(16) {
      case 15:
        try? socket.send(PeerMessage.bytes(&decisions).span, descriptors: decisions.oneIn(4) ? [memory.rawValue] : [])
      case 14: send(.flush)
      case 13 where decisions.oneIn(4):
        switch decisions.below(4) {
        case 0: send(.releaseSurfaces((0..<decisions.below(4)).map { _ in decisions.below(256) }))
        case 1: send(.keepSurfaces(decisions.oneIn(2)))
        case 2: send(.requireSamples(index: index &+ UInt64(decisions.below(4))))
        default:
          send(.download(surface: decisions.below(256)))
          receiveAnswer()
        }
      case 13: send(.skip(decisions.one(of: [.none, .nonReference, .bidirectional, .nonKey])))
      case 12:
        send(.drain)
        receiveAnswer()
      case 11:
        send(
          .replaceMemory(byteCount: decisions.oneIn(4) ? 4096 : Self.memoryByteCount), [memory.rawValue])
      case 10:
        send(
          .decode(
            index: decisions.oneIn(2) ? .max : 0, offset: decisions.below(256) * 300,
            byteCount: decisions.below(256) * 300))
        receiveAnswer()
      default:
        let accessUnit = MinimalStream.annexB(stream.nextAccessUnit(&decisions))
        try? memory.write(accessUnit.span, at: 0)
        send(.decode(index: index, offset: 0, byteCount: accessUnit.count))
        receiveAnswer()
      }
    }

    private func send(_ command: CodecCommand, _ descriptors: [Int32] = []) {
      var writer = MessageWriter()
      command.write(to: &writer)
      try? socket.send(writer, descriptors: descriptors)
    }

    /// Receives until a command has ended or the process has; grants slots, as decided, meanwhile.
    private func receiveAnswer() {
      while (try? socket.receive(into: &message)) != nil {
        var requests: [SlotRequest] = []
        var isFinished = false
        var reader = MessageReader(message.bytes)
        while !reader.isAtEnd, let reply = try? CodecReply(reading: &reader) {
          switch reply {
          case .slotRequest(let request): requests.append(request)
          case .finished: isFinished = true
          default: break
          }
        }
        for request in requests { grant(request) }
        if isFinished { return }
      }
    }

    private func grant(_ request: SlotRequest) {
      let isTrue = !decisions.oneIn(8)
      let byteCount = isTrue ? request.byteCount : 1 + decisions.below(256) * 64
      let count = isTrue ? 1 + decisions.below(4) : decisions.below(5)
      let slots = (0..<count).map { _ in
        SlotGrant.Slot(number: decisions.below(32), isNew: isTrue || decisions.oneIn(2))
      }
      let memories = slots.compactMap { _ in try? SharedMemory(byteCount: byteCount, peerAccess: .writable) }
      var writer = MessageWriter()
      SlotGrant(request: isTrue ? request.number : request.number &- 1, slots: slots).write(to: &writer)
      let hasAll = isTrue || decisions.oneIn(2)
      // Descriptors are closed with their memory.
      withExtendedLifetime(memories) {
        try? grants.send(writer, descriptors: hasAll ? memories.map(\.rawValue) : [])
      }
      // A request that is never granted ends with the connection.
      if !isTrue { shutdown(grants.rawValue, Int32(SHUT_WR)) }
    }

    /// The process reads the sent messages, and ends.
    func end() {
      shutdown(socket.rawValue, Int32(SHUT_WR))
      shutdown(grants.rawValue, Int32(SHUT_WR))
      while (try? socket.receive(into: &message)) != nil {}
    }
  }
}
