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
  private let surfaces: SurfaceTable
  /// Which pictures are to stay in the device's memory, and whether the process knows that.
  private let export: SurfaceExport
  private var keepsSurfaces: Bool
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
  private var message: LinkMessage?
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
    // As many again may come out in a drain.
    surfaces = SurfaceTable(limit: 2 * settings.surfaceCount)
    export = bridge.surfaces
    keepsSurfaces = settings.surfaceCount > 0
    message = LinkMessage(descriptorCount: settings.surfaceCount > 0 ? SurfaceDescription.objectLimit : 0)
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
    if let error = try answerWithPicture().error { throw error }
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
    try updateSurfaces()
    if export.requiresSamples(of: index) { try send(.requireSamples(index: index)) }
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
    try updateSurfaces()
    try send(.drain)
    if let error = try answer(report) { throw error }
  }

  package func samples(of surface: PictureSurface, width: Int, height: Int) throws(AVError) -> PictureMemory? {
    guard let number = surfaces.number(of: surface) else { return nil }
    try send(.download(surface: number))
    let (error, copy) = try answerWithPicture()
    if let error { throw error }
    guard let memory = copy, memory.pixelFormat == surface.description.pixelFormat, let request = memory.sharedRequest,
      request.codedWidth >= width, request.codedHeight >= height
    else { throw lose(.invalid) }
    return memory
  }

  /// What has become of surfaces since the last command.
  private func updateSurfaces() throws(AVError) {
    let released = surfaces.takeReleased()
    if !released.isEmpty { try send(.releaseSurfaces(released)) }
    guard export.limit > 0, keepsSurfaces != export.isWanted else { return }
    keepsSurfaces.toggle()
    try send(.keepSurfaces(keepsSurfaces))
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

  /// Waits until a command has ended which decodes nothing. Returns libavcodec's error, and the picture that came out.
  private func answerWithPicture() throws(AVError) -> (error: AVError?, memory: PictureMemory?) {
    var memory: PictureMemory?
    let error = try answer { if case .picture(_, let copy, _, _, _) = $0 { memory = copy } }
    return (error, memory)
  }

  private func receiveAnswer(
    into message: inout LinkMessage, _ report: (CodecEvent) -> Void
  ) throws(LinkError) -> AVError? {
    var (recordCount, pictureCount) = (0, 0)
    var deadline = Deadline(after: options.timeout)
    while true {
      try service.socket.receive(into: &message, until: deadline, unless: options.cancellation?.event)
      let descriptors = message.takeDescriptors()
      var reader = MessageReader(message.bytes)
      while !reader.isAtEnd {
        recordCount += 1
        guard recordCount <= Self.recordLimit else { throw .invalid }
        let reply = try CodecReply(reading: &reader)
        // Descriptors come with a surface, which is alone in its message.
        if case .surface = reply { try reader.finish() } else if descriptors != nil { throw .invalid }
        switch try take(reply, descriptors, report) {
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

  private func take(
    _ reply: CodecReply, _ descriptors: DescriptorSet?, _ report: (CodecEvent) -> Void
  ) throws(LinkError) -> Progress {
    switch reply {
    case .begun(let index): started.insert(try known(index))
    case .decoded(let index, let error, let errors): report(.decoded(index: try known(index), error.map(named), errors))
    case .failed(let index, let error): report(.failed(index: try known(index), named(error)))
    case .picture(let picture, let slot, let errors, let isDraining, let status):
      if let index = picture.index { _ = try known(index) }
      self.status = status
      report(.picture(picture, try slots.memory(of: picture, slot: slot), errors, isDraining: isDraining, status))
      return .picture
    case .surface(let picture, let record, let errors, let isDraining, let status):
      if let index = picture.index { _ = try known(index) }
      self.status = status
      report(
        .picture(picture, try memory(of: picture, record, descriptors), errors, isDraining: isDraining, status))
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

  private func memory(
    of picture: PictureDescription, _ record: SurfaceRecord, _ descriptors: DescriptorSet?
  ) throws(LinkError) -> PictureMemory {
    guard let descriptors else { throw .invalid }
    let surface = try surfaces.surface(record, descriptors, width: picture.width, height: picture.height)
    guard let slot = record.slot else { return PictureMemory(surface) }
    let memory = try slots.memory(of: picture, slot: slot)
    guard memory.pixelFormat == surface.description.pixelFormat else { throw .invalid }
    memory.add(surface)
    return memory
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
