// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CodecLink
import Glibc

/// A codec in a process of its own.
///
/// No thread is added: while the caller waits for the answer to a message, it also serves the process's requests for
/// picture memory. If the settings allow the delay, a batch of access units is sent before the previous batch is
/// answered, so the two processes rarely wait. All data from the process is copied and checked before use. A process
/// that has ended, that does not answer in time or that breaks the protocol is a lost codec.
package final class RemoteCodec: CodecBoundary {
  private let service: SessionProcess
  private let options: Options
  /// The socket on which picture slots are granted.
  private let grants: LinkSocket
  private let slots: SlotTable
  private let surfaces: SurfaceTable
  /// Which pictures stay in the device's memory, and whether the process has been informed of that.
  private let export: SurfaceExport
  private var keepsSurfaces: Bool
  /// Slots that the process may hold, and pictures that may come out in one command.
  private let holdLimit: Int
  private let started: StartedPictures
  private let maximumPixels: Int
  private var input: InputMemory
  private var commands = CommandMessage()
  /// Access units of a batch; 0 if each access unit is answered before the next one is sent.
  private var batchSize: Int
  /// Messages that are not answered.
  private var unansweredCount = 0
  /// The oldest of these, which a flush has followed: nothing of their answers is needed.
  private var discardedCount = 0
  /// The process has decoded nothing since the last flush.
  private var isFlushed = true
  /// The buffer for received messages; taken while its records are reported.
  private var message: LinkMessage?
  /// The process's last request for picture memory, and the slots granted and consumed so far.
  private var request: SlotRequest?
  private var grantedCount: UInt32 = 0
  private var consumedCount: UInt32 = 0
  /// When the process must have answered, unless it ends a decoding before.
  private var deadline: Deadline
  /// Access units that were sent and whose decoding has not ended. The time-out applies to each of them, however many
  /// records come.
  private var undecodedCount = 0
  /// The reason that the process got fewer slots than it requested; `nil` unless memory could not be made.
  private var shortage: AVError?
  /// The last shortage: a picture that got no slot comes out later.
  private var lastShortage: AVError?
  /// The reason that the codec is lost.
  private var failure: AVError?

  package private(set) var status = CodecStatus()
  package private(set) var youngest: UInt64?

  /// Options for waiting for the process.
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

  /// Opens a decoder in a process that waits for its first command.
  ///
  /// - Throws: libavcodec's error, or the reason that the process was lost.
  package init(
    _ service: SessionProcess, _ settings: CodecSettings, _ bridge: PictureBridge, _ options: Options
  ) throws(AVError) {
    self.service = service
    self.options = options
    deadline = Deadline(after: options.timeout)
    started = bridge.started
    maximumPixels = settings.maximumPixels
    // Pictures that are referred to, and those that threads are decoding, in frames of two fields.
    holdLimit = 64 + 4 * settings.effectiveThreadCount
    slots = SlotTable(holdLimit: holdLimit)
    // The same number may come out again in a drain.
    surfaces = SurfaceTable(limit: 2 * settings.surfaceCount)
    // A device's pictures may be copied between two access units.
    batchSize = settings.usesHardware ? 0 : settings.batchSize
    export = bridge.surfaces
    keepsSurfaces = settings.surfaceCount > 0
    message = LinkMessage(descriptorCount: settings.surfaceCount > 0 ? SurfaceDescription.objectLimit : 0)
    let sockets = try Self.makeSockets()
    do throws(LinkError) {
      input = try InputMemory(for: settings.extradata.count)
      // The process reads it before it answers. The first access unit will take its place.
      try input.memory.write(settings.extradata.span, at: 0)
    } catch { throw AVError(sharing: error) }
    let peer = sockets.second
    grants = LinkSocket(owning: sockets.first)
    commands.append(
      .open(settings, bridge.layout, memoryByteCount: input.memory.byteCount),
      descriptors: [peer.rawValue, input.memory.rawValue])
    try sendCommands()
    try receiveAnswers()
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

  package var decoder: SessionDecoder { service.decoder }

  /// Which process decodes.
  package var process: CodecProcess? {
    CodecProcess(identifier: service.processIdentifier, missingProtection: service.missingProtection)
  }

  // MARK: Commands

  package func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
    restartDeadline()
    let accessUnit = packet.bytes
    if !input.hasRoom(for: accessUnit.count), commands.accessUnitCount > 0 { try endBatch(report) }
    if commands.accessUnitCount == 0 {
      // The next half of the memory belonged to the message before the last.
      try receiveAnswers(leaving: mostUnanswered, report)
      updateSurfaces()
    }
    let offset: Int
    do throws(LinkError) {
      if !input.isLargeEnough(for: accessUnit.count) {
        input = try InputMemory(for: accessUnit.count)
        commands.append(
          .replaceMemory(byteCount: input.memory.byteCount), descriptors: [input.memory.rawValue])
      }
      offset = try input.append(accessUnit)
    } catch { throw AVError(sharing: error) }
    if export.requiresSamples(of: index) { commands.append(.requireSamples(index: index)) }
    commands.append(.decode(index: index, offset: offset, byteCount: accessUnit.count))
    youngest = index
    undecodedCount += 1
    isFlushed = false
    if commands.accessUnitCount >= batchSize { try endBatch(report) }
  }

  private func endBatch(_ report: (CodecEvent) -> Void) throws(AVError) {
    do throws(AVError) {
      try grantAhead()
      try sendCommands()
    } catch {
      if error.endsProcess { receiveLastAnswers(report) }
      throw error
    }
    try receiveAnswers(leaving: mostUnanswered, report)
  }

  /// Receives the process's answers from before it ended.
  private func receiveLastAnswers(_ report: (CodecEvent) -> Void) {
    do throws(AVError) {
      while unansweredCount > 0 { _ = try answer(report) }
    } catch {}
  }

  /// The number of messages that may be unanswered when a call returns.
  private var mostUnanswered: Int { min(batchSize, 1) }

  package func drain(report: (CodecEvent) -> Void) throws(AVError) {
    restartDeadline()
    updateSurfaces()
    isFlushed = false
    commands.append(.drain)
    try endBatch(report)
    try receiveAnswers(report)
  }

  package func samples(of surface: PictureSurface, width: Int, height: Int) throws(AVError) -> PictureMemory? {
    guard let number = surfaces.number(of: surface) else { return nil }
    restartDeadline()
    commands.append(.download(surface: number))
    try sendCommands()
    var copy: PictureMemory?
    try receiveAnswers { if case .picture(_, let memory, _, _, _) = $0 { copy = memory } }
    guard let memory = copy, memory.pixelFormat == surface.description.pixelFormat, let request = memory.sharedRequest,
      request.codedWidth >= width, request.codedHeight >= height
    else { throw lose(.invalid) }
    return memory
  }

  /// Adds commands for changes to surfaces since the last command.
  private func updateSurfaces() {
    let released = surfaces.takeReleased()
    if !released.isEmpty { commands.append(.releaseSurfaces(released)) }
    guard export.limit > 0, keepsSurfaces != export.isWanted else { return }
    keepsSurfaces.toggle()
    commands.append(.keepSurfaces(keepsSurfaces))
  }

  package func finishDecoding(report: (CodecEvent) -> Void) throws(AVError) {
    restartDeadline()
    if commands.accessUnitCount > 0 { try endBatch(report) }
    try receiveAnswers(report)
  }

  // A failure shows itself in the next command that has an answer.
  package func flush() {
    guard !isFlushed else { return }
    isFlushed = true
    restartDeadline()
    commands.append(.flush)
    try? sendCommands()
    discardedCount = unansweredCount
    undecodedCount = 0
  }

  package func skip(_ pictures: CodecSettings.Skip) { commands.append(.skip(pictures)) }

  private func sendCommands() throws(AVError) {
    if let failure { throw failure }
    do throws(LinkError) {
      try service.socket.send(
        commands.writer, descriptors: commands.descriptors, until: deadline, unless: options.cancellation?.event)
    } catch { throw lose(error) }
    // The process has its own.
    input.memory.closeDescriptor()
    if commands.isAnswered { unansweredCount += 1 }
    if commands.accessUnitCount > 0 { input.changeHalves() }
    commands.removeAll()
  }

  // MARK: Answers

  /// Waits for the answers to messages, up to the last `count` of them, and reports the process's events.
  ///
  /// - Throws: libavcodec's error, or the reason that the process was lost.
  private func receiveAnswers(leaving count: Int = 0, _ report: (CodecEvent) -> Void = { _ in }) throws(AVError) {
    if let failure { throw failure }
    while unansweredCount > count {
      if let error = try answer(report) { throw error }
      restartDeadline()
    }
  }

  /// Starts the time that the settings allow the process.
  private func restartDeadline() { deadline = Deadline(after: options.timeout) }

  /// Waits for the answer to the oldest message. Returns libavcodec's error.
  private func answer(_ report: (CodecEvent) -> Void) throws(AVError) -> AVError? {
    guard var message = message.take() else { throw .bug }
    let isDiscarded = discardedCount > 0
    unansweredCount -= 1
    if isDiscarded { discardedCount -= 1 }
    var linkError: LinkError?
    var error: AVError?
    do throws(LinkError) {
      error = try receiveAnswer(into: &message, isDiscarded ? { _ in } : report)
    } catch { linkError = error }
    self.message = consume message
    if let linkError { throw lose(linkError) }
    return error
  }

  private func receiveAnswer(
    into message: inout LinkMessage, _ report: (CodecEvent) -> Void
  ) throws(LinkError) -> AVError? {
    var (recordCount, pictureCount, requestCount) = (0, 0, 0)
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
        case .decoded:
          guard undecodedCount > 0 else { break }
          // A drain, or an answer to several access units, takes as long as each of them.
          undecodedCount -= 1
          restartDeadline()
        case .picture:
          // There are not more than slots.
          pictureCount += 1
          guard pictureCount <= holdLimit else { throw .invalid }
        case .request:
          // Slots come back with the end of an answer: more requests have nothing to get.
          requestCount += 1
          guard requestCount <= holdLimit else { throw .invalid }
        case .more: break
        }
      }
    }
  }

  private enum Progress {
    case more
    case decoded
    case picture
    case request
    case finished(AVError?)
  }

  private func take(
    _ reply: CodecReply, _ descriptors: DescriptorSet?, _ report: (CodecEvent) -> Void
  ) throws(LinkError) -> Progress {
    switch reply {
    case .begun(let index): started.insert(try known(index))
    case .decoded(let index, let error, let errors):
      report(.decoded(index: try known(index), error.map(named), errors))
      return .decoded
    case .failed(let index, let error): report(.failed(index: try known(index), named(error)))
    case .unplaced(let index): report(.unplaced(index: try known(index), lastShortage ?? .outOfMemory))
    case .picture(let picture, let slot, let errors, let isDraining, let status):
      if let index = picture.index { _ = try known(index) }
      let status = delayed(status)
      self.status = status
      report(.picture(picture, try slots.memory(of: picture, slot: slot), errors, isDraining: isDraining, status))
      return .picture
    case .surface(let picture, let record, let errors, let isDraining, let status):
      if let index = picture.index { _ = try known(index) }
      let status = delayed(status)
      self.status = status
      report(
        .picture(picture, try memory(of: picture, record, descriptors), errors, isDraining: isDraining, status))
      return .picture
    case .released(let slot): try slots.release(slot)
    case .slotRequest(let request):
      guard request.isWithin(maximumPixels) else { throw .invalid }
      self.request = request
      // The pictures may be larger than the settings assumed.
      batchSize = min(batchSize, CodecSettings.batchSize(request.picture.codedWidth * request.picture.codedHeight))
      try grant(request, count: 1)
      return .request
    case .finished(let error, let status, let consumedSlotCount):
      self.status = delayed(status)
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

  /// The delay from input to output here: two batches may be under way when one is answered.
  private func delayed(_ status: CodecStatus) -> CodecStatus {
    CodecStatus(reorderDepth: status.reorderDepth, threadDelay: status.threadDelay + max(0, 2 * batchSize - 1))
  }

  /// A shortage of memory in the process may be a shortage of descriptors here.
  private func named(_ error: AVError) -> AVError { error == .outOfMemory ? shortage ?? error : error }

  /// Checks the index of an access unit that the process has received.
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
    lastShortage = shortage ?? lastShortage
    var writer = MessageWriter()
    granted.grant.write(to: &writer)
    try grants.send(
      writer, descriptors: granted.newMemory.map(\.rawValue), until: deadline, unless: options.cancellation?.event)
  }

  // MARK: Losing the process

  /// The process is of no more use.
  private func lose(_ error: LinkError) -> AVError {
    if let failure { return failure }
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
