// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CodecLink
import Glibc

/// A codec in a process of its own.
///
/// No thread is added: while the caller waits for the answer to a command, it also serves the process's requests for
/// picture memory. Whatever the process reports is copied and checked before it is used. A process that has ended, that
/// does not answer in time or that breaks the protocol is a lost codec.
package final class RemoteCodec: CodecBoundary {
  private let service: ServiceProcess
  private let options: Options
  /// On which picture slots are granted.
  private let grants: LinkSocket
  private let slots: SlotTable
  /// Slots that the process may hold, and pictures that may come out in one command.
  private let holdLimit: Int
  private let started: StartedPictures
  private let maximumPixels: Int
  /// Access units lie here; the process can only read it.
  private var memory: SharedMemory
  /// The process has got `memory`.
  private var isMemoryShared = true
  private var writer = MessageWriter()
  /// What is received into; taken while its records are reported.
  private var message: LinkMessage? = LinkMessage()
  /// The process's last request for picture memory, and the slots granted and consumed so far.
  private var request: SlotRequest?
  private var grantedCount: UInt32 = 0
  private var consumedCount: UInt32 = 0
  /// Why the process got fewer slots than it requested; `nil` unless memory could not be made.
  private var shortage: AVError?
  /// Why the codec is lost.
  private var failure: AVError?

  package private(set) var status = CodecStatus()
  package private(set) var youngest: UInt64?

  /// How to wait for the process.
  package struct Options: Sendable {
    let timeout: Duration
    let cancellation: Cancellation?

    package init(timeout: Duration, cancellation: Cancellation?) {
      self.timeout = timeout
      self.cancellation = cancellation
    }
  }

  /// Records that answer one command, at most: far more than a decoder has pictures inside.
  private static let recordLimit = 1 << 16
  private static let smallestMemory = 1 << 16

  /// Opens a decoder in a process that waits for its first command.
  ///
  /// - Throws: what libavcodec throws, or how the process was lost.
  package init(
    _ service: ServiceProcess, _ settings: CodecSettings, _ bridge: PictureBridge, _ options: Options
  ) throws(AVError) {
    self.service = service
    self.options = options
    started = bridge.started
    maximumPixels = settings.maximumPixels
    // Pictures that are referred to, and those that threads are decoding, in frames of two fields.
    holdLimit = 64 + 4 * settings.effectiveThreadCount
    slots = SlotTable(holdLimit: holdLimit)
    let sockets = try Self.makeSockets()
    do throws(LinkError) {
      memory = try Self.makeMemory(for: settings.extradata.count)
      try memory.write(settings.extradata.span, at: 0)
    } catch { throw AVError(sharing: error) }
    let peer = sockets.second
    grants = LinkSocket(owning: sockets.first)
    try send(
      .open(settings, bridge.layout, memoryByteCount: memory.byteCount),
      descriptors: [peer.rawValue, memory.rawValue])
    if let error = try answer({ _ in }) { throw error }
  }

  deinit {
    service.kill()
    slots.close()
  }

  private static func makeSockets() throws(AVError) -> DescriptorPair {
    do throws(LinkError) {
      return try DescriptorPair.sockets()
    } catch { throw AVError(sharing: error) }
  }

  private static func makeMemory(for byteCount: Int) throws(LinkError) -> SharedMemory {
    guard byteCount <= CodecCommand.inputLimit else { throw .invalid }
    var size = smallestMemory
    while size < byteCount { size *= 2 }
    return try SharedMemory(byteCount: size, peerAccess: .readable)
  }

  package var decoder: SessionDecoder { service.decoder }

  /// Which process decodes.
  package var process: CodecProcess? {
    CodecProcess(identifier: service.processIdentifier, missingProtection: service.missingProtection)
  }

  // MARK: Commands

  package func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
    let byteCount = packet.byteCount
    do throws(LinkError) {
      if byteCount > memory.byteCount {
        memory = try Self.makeMemory(for: byteCount)
        isMemoryShared = false
      }
      try memory.write(packet.bytes, at: 0)
    } catch { throw AVError(sharing: error) }
    try grantAhead()
    youngest = index
    if isMemoryShared {
      try send(.decode(index: index, byteCount: byteCount))
    } else {
      try send(
        .decodeInNewMemory(index: index, byteCount: byteCount, memoryByteCount: memory.byteCount),
        descriptors: [memory.rawValue])
      isMemoryShared = true
    }
    if let error = try answer(report) { throw error }
  }

  package func drain(report: (CodecEvent) -> Void) throws(AVError) {
    try send(.drain)
    if let error = try answer(report) { throw error }
  }

  // A failure shows itself in the next command that has an answer.
  package func flush() { try? send(.flush) }
  package func skip(_ pictures: CodecSettings.Skip) { try? send(.skip(pictures)) }

  private func send(_ command: CodecCommand, descriptors: [Int32] = []) throws(AVError) {
    if let failure { throw failure }
    writer.removeAll()
    command.write(to: &writer)
    do throws(LinkError) {
      try service.socket.send(
        writer, descriptors: descriptors, until: Deadline(after: options.timeout),
        unless: options.cancellation?.event)
    } catch { throw lose(error) }
  }

  // MARK: Answers

  /// Waits until a command has ended, and reports what happens meanwhile. Returns libavcodec's error.
  private func answer(_ report: (CodecEvent) -> Void) throws(AVError) -> AVError? {
    guard var message = message.take() else { throw .bug }
    var linkError: LinkError?
    var error: AVError?
    do throws(LinkError) {
      error = try receiveAnswer(into: &message, report)
    } catch { linkError = error }
    self.message = consume message
    if let linkError { throw lose(linkError) }
    return error
  }

  private func receiveAnswer(
    into message: inout LinkMessage, _ report: (CodecEvent) -> Void
  ) throws(LinkError) -> AVError? {
    var (recordCount, pictureCount) = (0, 0)
    var deadline = Deadline(after: options.timeout)
    while true {
      try service.socket.receive(into: &message, until: deadline, unless: options.cancellation?.event)
      var reader = MessageReader(message.bytes)
      while !reader.isAtEnd {
        recordCount += 1
        guard recordCount <= Self.recordLimit else { throw .invalid }
        switch try take(CodecReply(reading: &reader), report) {
        case .finished(let error):
          try reader.finish()
          return error
        case .picture:
          // A drain may decode many pictures: each has its time, and there are not more than slots.
          pictureCount += 1
          guard pictureCount <= holdLimit else { throw .invalid }
          deadline = Deadline(after: options.timeout)
        case .more: break
        }
      }
    }
  }

  private enum Progress {
    case more
    case picture
    case finished(AVError?)
  }

  private func take(_ reply: CodecReply, _ report: (CodecEvent) -> Void) throws(LinkError) -> Progress {
    switch reply {
    case .begun(let index): started.insert(try known(index))
    case .decoded(let index, let error, let errors): report(.decoded(index: try known(index), error.map(named), errors))
    case .failed(let index, let error): report(.failed(index: try known(index), named(error)))
    case .picture(let picture, let slot, let errors, let isDraining, let status):
      if let index = picture.index { _ = try known(index) }
      self.status = status
      report(.picture(picture, try slots.memory(of: picture, slot: slot), errors, isDraining: isDraining, status))
      return .picture
    case .released(let slot): try slots.release(slot)
    case .slotRequest(let request):
      guard request.isWithin(maximumPixels) else { throw .invalid }
      self.request = request
      try grant(request, count: 1)
    case .finished(let error, let status, let consumedSlotCount):
      self.status = status
      consumedCount = consumedSlotCount
      return .finished(error.map(named))
    }
    return .more
  }

  /// What the process takes for a shortage of memory may be one of descriptors here.
  private func named(_ error: AVError) -> AVError { error == .outOfMemory ? shortage ?? error : error }

  /// The index of an access unit that the process has got.
  private func known(_ index: UInt64) throws(LinkError) -> UInt64 {
    guard let youngest, index <= youngest else { throw .invalid }
    return index
  }

  // MARK: Picture memory

  /// Frame threads begin pictures while the application does not wait for the process: there is a slot for each.
  private func grantAhead() throws(AVError) {
    guard failure == nil, let request else { return }
    let unusedCount = max(0, Int(Int32(truncatingIfNeeded: grantedCount &- consumedCount)))
    guard unusedCount <= status.threadDelay else { return }
    do throws(LinkError) {
      // A few more, so that not each access unit takes a message.
      try grant(request, count: status.threadDelay + 4 - unusedCount)
    } catch { throw lose(error) }
  }

  private func grant(_ request: SlotRequest, count: Int) throws(LinkError) {
    let granted = slots.grant(request, count: count)
    grantedCount &+= UInt32(clamping: granted.grant.slots.count)
    shortage = granted.shortage.map { AVError(sharing: $0) }
    var writer = MessageWriter()
    granted.grant.write(to: &writer)
    try grants.send(
      writer, descriptors: granted.newMemory.map(\.rawValue), until: Deadline(after: options.timeout),
      unless: options.cancellation?.event)
  }

  // MARK: Losing it

  /// The process is of no more use.
  private func lose(_ error: LinkError) -> AVError {
    let failure: AVError
    switch error {
    case .closed:
      service.kill()
      failure =
        if case .signalled(let signal) = service.ending() { .processEnded(signal: signal) } else {
          .processEnded(signal: 0)
        }
    case .timedOut: failure = .timedOut
    case .cancelled: failure = .cancelled
    case .invalid: failure = .protocolViolation
    case .system: failure = .external
    }
    self.failure = failure
    service.kill()
    return failure
  }
}
