// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink
import Glibc
import VideoDecoding

/// In a codec process: carries out the application's commands.
package final class CodecServer {
  private let link: SharedLink
  private var message = LinkMessage(descriptorCount: 2)
  private var writer = MessageWriter()
  private let packets = PacketPool()
  /// The device that decodes if a session requests hardware.
  private let device: HardwareDevice?

  /// An opened decoder, with everything that it works with.
  private struct Opened {
    let codec: RunningCodec
    let started: StartedPictures
    let slots: SlotAllocator
    let bridge: PictureBridge
    var memory: SharedMemory
  }
  private var held = HeldSurfaces()
  /// Decoding has failed since the last flush. Later access units are not decoded, because those between would be
  /// missing.
  private var hasFailed = false
  private var opened: Opened?

  /// A message of replies is sent when it has become as long as this.
  private static let messageLimit = LinkSocket.largestMessage / 2

  private init(_ socket: consuming LinkSocket, _ device: HardwareDevice?) {
    link = SharedLink(socket)
    self.device = device
  }

  /// Serves the application until it closes the connection or breaks the protocol.
  ///
  /// - Throws: `LinkError.closed` at the end, or the error that ends it earlier.
  package static func serve(
    _ socket: consuming LinkSocket, device: HardwareDevice? = nil
  ) throws(LinkError) -> Never {
    let server = CodecServer(socket, device)
    while true { try server.serveNext() }
  }

  /// Carries out the commands of a message, up to one that fails.
  private func serveNext() throws(LinkError) {
    try link.socket.receive(into: &message)
    let commands = try CodecCommand.all(in: message)
    var error: AVError?
    for command in commands where error == nil { error = try carryOut(command) }
    if commands.contains(where: \.isAnswered) { try finish(error) }
  }

  private func carryOut(_ command: CodecCommand) throws(LinkError) -> AVError? {
    switch command {
    case .open(let settings, let layout, let memoryByteCount):
      return try open(settings, layout, memoryByteCount: memoryByteCount)
    case .decode(let index, let offset, let byteCount):
      return try decode(index: index, offset: offset, byteCount: byteCount)
    case .drain: return try drain()
    case .download(let surface): return try download(surface)
    case .replaceMemory(let byteCount):
      guard let descriptor = message.takeDescriptor() else { throw .invalid }
      let memory = try SharedMemory(mapping: descriptor, byteCount: byteCount, access: .readable)
      memory.closeDescriptor()
      opened?.memory = memory
    case .flush:
      hasFailed = false
      opened?.codec.flush()
      opened?.bridge.surfaces.flush()
    case .skip(let skip): opened?.codec.skip(skip)
    case .releaseSurfaces(let numbers): for number in numbers { try held.release(number) }
    case .keepSurfaces(let keeps): opened?.bridge.surfaces.isWanted = keeps
    case .requireSamples(let index): opened?.bridge.surfaces.requireSamples(of: index)
    }
    return nil
  }

  private func open(
    _ settings: CodecSettings, _ layout: SessionConfiguration.OutputLayout, memoryByteCount: Int
  ) throws(LinkError) -> AVError? {
    guard opened == nil, let grants = message.takeDescriptor(), let descriptor = message.takeDescriptor() else {
      throw .invalid
    }
    let memory = try SharedMemory(mapping: descriptor, byteCount: memoryByteCount, access: .readable)
    memory.closeDescriptor()
    var settings = settings
    var extradata = settings.extradata.mutableSpan
    try memory.read(at: 0, into: &extradata)
    let slots = SlotAllocator(link: link, grants: LinkSocket(owning: grants))
    let started = StartedPictures(keepsInsertions: true)
    let surfaces = SurfaceExport(limit: settings.surfaceCount, checksKind: false)
    let bridge = PictureBridge(allocator: slots, layout: layout, started: started, surfaces: surfaces)
    do throws(AVError) {
      let codec = RunningCodec(try CodecContext(settings, buffers: bridge, device: device))
      opened = Opened(codec: codec, started: started, slots: slots, bridge: bridge, memory: memory)
    } catch { return error }
    return nil
  }

  private func decode(index: UInt64, offset: Int, byteCount: Int) throws(LinkError) -> AVError? {
    guard let opened else { return .invalidArgument }
    guard !hasFailed else { return nil }
    guard byteCount > 0, byteCount <= opened.memory.byteCount, offset <= opened.memory.byteCount - byteCount,
      index <= UInt64(Int64.max)
    else { throw .invalid }
    let failure = try perform(opened) { (report) throws(AVError) in
      let start = unsafe UnsafePointer((opened.memory.base + offset).assumingMemoryBound(to: UInt8.self))
      // The application may change the bytes meanwhile: libavcodec gets a copy.
      // SAFETY: the memory has that many bytes at `offset`, which were checked.
      let bytes = unsafe Span(_unsafeStart: start, count: byteCount)
      let packet = try packets.packet(copying: bytes, timestamp: Int64(index))
      try opened.codec.decode(packet, index: index, report: report)
    }
    hasFailed = failure != nil
    return failure
  }

  private func drain() throws(LinkError) -> AVError? {
    guard let opened else { return .invalidArgument }
    opened.bridge.surfaces.isDraining = true
    defer { opened.bridge.surfaces.isDraining = false }
    return try perform(opened) { (report) throws(AVError) in try opened.codec.drain(report: report) }
  }

  private func download(_ number: Int) throws(LinkError) -> AVError? {
    guard let opened else { return .invalidArgument }
    guard let hold = held[number]?.hold else { throw .invalid }
    return try perform(opened) { (report) throws(AVError) in
      guard let memory = try opened.bridge.download(hold), memory.token is SlotAllocator.Slot else {
        throw .outOfMemory
      }
      let picture = PictureDescription(index: nil, width: hold.surface.width, height: hold.surface.height)
      report(.picture(picture, memory, [], isDraining: false, opened.codec.status))
    }
  }

  /// Carries out a command, and reports the events meanwhile. Returns libavcodec's error.
  private func perform(
    _ opened: Opened, _ command: ((CodecEvent) -> Void) throws(AVError) -> Void
  ) throws(LinkError) -> AVError? {
    var failure: AVError?
    var linkFailure: LinkError?
    do throws(AVError) {
      try command { report($0, opened, &linkFailure) }
    } catch { failure = error }
    if let linkFailure { throw linkFailure }
    return failure
  }

  // MARK: Replies

  private func report(_ event: CodecEvent, _ opened: Opened, _ linkFailure: inout LinkError?) {
    writeBegun(opened)
    var isUrgent = writer.bytes.count >= Self.messageLimit
    switch event {
    case .decoded(let index, let error, let errors):
      CodecReply.decoded(index: index, error, errors).write(to: &writer)
    case .failed(let index, let error): CodecReply.failed(index: index, error).write(to: &writer)
    case .unplaced(let index, _): CodecReply.unplaced(index: index).write(to: &writer)
    case .picture(let picture, let memory, let errors, let isDraining, let status):
      if let surface = memory.surface, let record = record(of: surface, memory) {
        memory.finish(width: picture.width, height: picture.height)
        guard linkFailure == nil else { return }
        do throws(LinkError) {
          if !writer.bytes.isEmpty { try send() }
          CodecReply.surface(picture, record, errors, isDraining: isDraining, status).write(to: &writer)
          try send(descriptors: surface.description.objects.map(\.descriptor))
        } catch { linkFailure = error }
        return
      }
      guard let slot = memory.token as? SlotAllocator.Slot else {
        // The application had no memory for it, so that the decoder has written into its own.
        if let index = picture.index { CodecReply.unplaced(index: index).write(to: &writer) }
        break
      }
      memory.finish(width: picture.width, height: picture.height)
      CodecReply.picture(picture, slot: slot.number, errors, isDraining: isDraining, status).write(to: &writer)
      // A drain takes as long as decoding several pictures: each shows that the process works.
      isUrgent = isUrgent || isDraining
    }
    guard isUrgent, linkFailure == nil else { return }
    do throws(LinkError) {
      try send()
    } catch { linkFailure = error }
  }

  /// Keeps a surface for the application; `nil` if its picture is sent in a slot only, or not at all.
  private func record(of surface: PictureSurface, _ memory: PictureMemory) -> SurfaceRecord? {
    let slot = (memory.token as? SlotAllocator.Slot)?.number
    guard unsafe slot != nil || memory.planes.isEmpty, let number = held.insert(surface) else { return nil }
    return SurfaceRecord(number: number, slot: slot, description: surface.description)
  }

  private func writeBegun(_ opened: Opened) {
    for index in opened.started.takeInsertions() { CodecReply.begun(index: index).write(to: &writer) }
  }

  /// Ends the answer to a message.
  private func finish(_ error: AVError?) throws(LinkError) {
    if let opened {
      writeBegun(opened)
      for slot in opened.slots.takeReleased() { CodecReply.released(slot: slot).write(to: &writer) }
      if writer.bytes.count >= Self.messageLimit { try send() }
    }
    let (status, consumedCount) = (opened?.codec.status ?? CodecStatus(), opened?.slots.consumedCount ?? 0)
    CodecReply.finished(error, status, consumedSlotCount: consumedCount).write(to: &writer)
    try send()
  }

  private func send(descriptors: [Int32] = []) throws(LinkError) {
    try link.socket.send(writer, descriptors: descriptors)
    writer.removeAll()
  }
}

/// In a codec process: the pictures in the device's memory that the application holds.
struct HeldSurfaces {
  /// By their numbers.
  private var surfaces: [PictureSurface?] = []

  /// Keeps a surface; returns the number by which it is released. `nil` if no number is left.
  mutating func insert(_ surface: PictureSurface) -> Int? {
    if let free = surfaces.indices.first(where: { surfaces[$0] == nil }) {
      surfaces[free] = surface
      return free
    }
    guard surfaces.count < CodecReply.surfaceLimit else { return nil }
    surfaces.append(surface)
    return surfaces.count - 1
  }

  /// The surface with this number; `nil` if the application does not hold it.
  subscript(number: Int) -> PictureSurface? { surfaces.indices.contains(number) ? surfaces[number] : nil }

  /// The application needs it no more.
  ///
  /// - Throws: `LinkError.invalid` if the application does not hold it.
  mutating func release(_ number: Int) throws(LinkError) {
    guard self[number] != nil else { throw .invalid }
    surfaces[number] = nil
  }
}

/// Serves a session until its application closes the connection.
func serveSession(_ socket: consuming LinkSocket, _ opened: OpenedDevice?) -> Never {
  do throws(LinkError) {
    try CodecServer.serve(socket, device: opened?.device)
  } catch { _exit(error == .closed ? 0 : 1) }
}
