// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import CodecPeers
import Glibc
import Testing

@testable import VideoDecoding

/// What a codec process may report of pictures in a device's memory, for which memory that processes share stands in.
@Suite struct LyingSurfaceTests {
  init() { PictureSurface.takeSharedMemory() }

  private static let byteCount = 64 * 96
  private static let finished = CodecReply.finished(nil, CodecStatus(), consumedSlotCount: 0)

  private static func surface(
    index: UInt64? = 0, number: Int = 3, slot: Int? = nil, width: Int = 64, height: Int = 64,
    _ change: (inout SurfaceDescription) -> Void = { _ in }
  ) -> CodecReply {
    var description = SurfaceDescription(
      format: .nv12, objects: [], luma: .init(object: 0, offset: 0, stride: 64),
      chroma: .init(object: 0, offset: 64 * 64, stride: 64))
    change(&description)
    return .surface(
      PictureDescription(index: index, width: width, height: height),
      SurfaceRecord(number: number, slot: slot, description: description), [], isDraining: false, CodecStatus())
  }

  private func memory(_ byteCount: Int = Self.byteCount) throws -> SharedMemory {
    try SharedMemory(byteCount: byteCount, peerAccess: .writable)
  }

  private func taken(_ event: CodecEvent?) -> PictureSurface? {
    if case .picture(_, let memory, _, _, _)? = event { memory.surface } else { nil }
  }

  @Test func acceptsAValidSurface() throws {
    let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
    try liar.answer(Self.surface(), descriptors: [memory.rawValue])
    try liar.answer([Self.finished])
    let (error, events) = try liar.decode()
    #expect(error == nil)
    let surface = try #require(taken(events.first))
    #expect(surface.description.objects.map(\.byteCount) == [Self.byteCount])
    #expect(surface.description.objects[0].descriptor != memory.rawValue)
    #expect(fcntl(surface.description.objects[0].descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func closesTheDescriptorWithThePicture() throws {
    let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
    try liar.answer(Self.surface(), descriptors: [memory.rawValue])
    try liar.answer([Self.finished])
    var events = try liar.decode().events
    // Another thread may be given the number: only what is behind it is compared.
    let descriptor = try #require(taken(events.first)).description.objects[0].descriptor
    #expect(Self.inode(descriptor) == Self.inode(memory.rawValue))
    events = []
    #expect(Self.inode(descriptor) != Self.inode(memory.rawValue))
  }

  private static func inode(_ descriptor: Int32) -> UInt64? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  static let lies: [CodecReply] = [
    surface(index: 1), surface(width: 65), surface(height: 65), surface(width: 0), surface(height: 0),
    surface(width: Int(Int32.max), height: Int(Int32.max)), surface(slot: 0), surface { $0.format = .p010 },
    surface { $0.luma.object = 1 }, surface { $0.chroma.object = 1 }, surface { $0.chroma.object = 4 },
    surface { $0.luma.offset = Int(Int32.max) }, surface { $0.luma.offset = .max },
    surface { $0.chroma.offset += 1 }, surface { $0.chroma.offset = .max }, surface { $0.luma.stride = 63 },
    surface { $0.luma.stride = .max }, surface { $0.chroma.stride = Int(Int32.max) },
  ]

  @Test(arguments: lies.indices) func invalidSurfacesEndTheProcess(_ number: Int) throws {
    let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
    try liar.answer(Self.lies[number], descriptors: [memory.rawValue])
    try liar.answer([Self.finished])
    #expect(try liar.decode().error == .protocolViolation)
  }

  @Test func wrongDescriptorsEndTheProcess() throws {
    let memory = try memory()
    let other = try unsafe #require([open("/dev/zero", O_RDONLY | O_CLOEXEC)].first { $0 >= 0 })
    defer { close(other) }
    for descriptors in [[], [memory.rawValue, memory.rawValue], Array(repeating: memory.rawValue, count: 8), [other]] {
      let liar = try LyingProcessTests.Liar(surfaceCount: 2)
      try liar.answer(Self.surface(), descriptors: descriptors)
      try liar.answer([Self.finished])
      #expect(try liar.decode().error == .protocolViolation)
    }
    let small = try self.memory(Self.byteCount - 1)
    let liar = try LyingProcessTests.Liar(surfaceCount: 2)
    try liar.answer(Self.surface(), descriptors: [small.rawValue])
    #expect(try liar.decode().error == .protocolViolation)
  }

  @Test func descriptorsWithOtherRecordsEndTheProcess() throws {
    let memory = try memory()
    let with = try LyingProcessTests.Liar(surfaceCount: 2)
    try with.answer(.begun(index: 0), descriptors: [memory.rawValue])
    #expect(try with.decode().error == .protocolViolation)
    let behind = try LyingProcessTests.Liar(surfaceCount: 2)
    var writer = MessageWriter()
    Self.surface().write(to: &writer)
    Self.finished.write(to: &writer)
    try behind.send(writer.bytes, descriptors: [memory.rawValue])
    #expect(try behind.decode().error == .protocolViolation)
  }

  @Test func anUnrequestedSurfaceEndsTheProcess() throws {
    let (liar, memory) = (try LyingProcessTests.Liar(), try memory())
    try liar.answer(Self.surface(), descriptors: [memory.rawValue])
    #expect(try liar.decode().error == .protocolViolation)
  }

  /// As long as a picture holds a number, and then as long as the process has not been told, it is no other picture's.
  @Test func surfaceNumbersInUseCannotBeReused() throws {
    let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
    try liar.answer(Self.surface(), descriptors: [memory.rawValue])
    try liar.answer([Self.finished])
    var held = try liar.decode().events
    #expect(held.count == 1)
    held = []
    // The release has come in front of the next access unit.
    try liar.answer(Self.surface(index: 1), descriptors: [memory.rawValue])
    try liar.answer([Self.finished])
    held = try liar.decode(1).events
    #expect(held.count == 1)
    try liar.answer(Self.surface(index: 2), descriptors: [memory.rawValue])
    #expect(try liar.decode(2).error == .protocolViolation)
    extendLifetime(held)
  }

  /// Twice as many as may stay behind the decoder, because of a drain.
  @Test func boundsTheSurfacesThatAreHeld() throws {
    let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
    var held: [CodecEvent] = []
    for index in 0..<UInt64(4) {
      try liar.answer(Self.surface(index: index, number: Int(index)), descriptors: [memory.rawValue])
      try liar.answer([Self.finished])
      held += try liar.decode(index).events
    }
    #expect(held.count == 4)
    try liar.answer(Self.surface(index: 4, number: 4), descriptors: [memory.rawValue])
    #expect(try liar.decode(4).error == .protocolViolation)
  }

  @Test func readsSamplesOfThePicture() throws {
    func request(width: Int, _ format: PixelFormat) -> CodecReply {
      .slotRequest(
        SlotRequest(
          number: 1,
          picture: PictureRequest(
            pixelFormat: format, codedWidth: width, codedHeight: 64, crop: PictureCrop(), alignedWidth: 64,
            alignedHeight: 64, strideAlignment: 64)))
    }
    let answers: [(CodecReply, width: Int, isTrue: Bool)] = [
      (request(width: 64, .nv12), 64, true), (request(width: 32, .nv12), 32, false),
      (request(width: 64, .p010), 64, false), (request(width: 64, .yuv420p), 64, false),
    ]
    for (answer, width, isTrue) in answers {
      let (liar, memory) = (try LyingProcessTests.Liar(surfaceCount: 2), try memory())
      try liar.answer(Self.surface(), descriptors: [memory.rawValue])
      try liar.answer([Self.finished])
      let events = try liar.decode().events
      let surface = try #require(taken(events.first))
      try liar.answer([answer])
      try liar.answer([
        .picture(
          PictureDescription(index: nil, width: width, height: 64), slot: 0, [], isDraining: false, CodecStatus()),
        Self.finished,
      ])
      if isTrue {
        #expect(try liar.samples(of: surface) != nil)
      } else {
        #expect(throws: AVError.protocolViolation) { _ = try liar.samples(of: surface) }
      }
      extendLifetime(events)
    }
  }

  // MARK: What is checked

  @Test func acceptsOnlyDeviceMemory() throws {
    #expect(!PictureSurface.isDeviceMemory(-1))
    var pipe: [Int32] = [-1, -1]
    try #require(unsafe Glibc.pipe(&pipe) == 0)
    defer { for descriptor in pipe { close(descriptor) } }
    #expect(!PictureSurface.isDeviceMemory(pipe[0]))
    #expect(PictureSurface.byteCount(pipe[0]) == nil)
  }

  /// Planes that do not lie in the memory, and sizes that cannot be computed with.
  @Test func refusesPlanesOutsideTheMemory() {
    func description(_ change: (inout SurfaceDescription) -> Void = { _ in }) -> SurfaceDescription {
      var description = SurfaceDescription(
        format: .nv12, objects: [.init(descriptor: 0, byteCount: 64 * 96)],
        luma: .init(object: 0, offset: 0, stride: 64), chroma: .init(object: 0, offset: 64 * 64, stride: 64))
      change(&description)
      return description
    }
    #expect(description().holds(width: 64, height: 64))
    #expect(description().holds(width: 63, height: 63))
    for (width, height) in [(65, 64), (64, 65), (0, 64), (64, 0), (-1, 64), (Int.max, 1), (1, Int.max)] {
      #expect(!description().holds(width: width, height: height), "\(width) \(height)")
    }
    let wrong: [(inout SurfaceDescription) -> Void] = [
      { $0.format = .p010 }, { $0.objects = [] }, { $0.objects[0].byteCount -= 1 }, { $0.objects[0].byteCount = 0 },
      { $0.objects[0].byteCount = .min }, { $0.objects.append($0.objects[0]) }, { $0.chroma.object = 1 },
      { $0.chroma.object = -1 }, { $0.chroma.object = .max }, { $0.luma.object = .min }, { $0.luma.offset = -1 },
      { $0.chroma.offset += 1 }, { $0.chroma.offset = .max }, { $0.luma.stride = 63 }, { $0.luma.stride = -64 },
      { $0.luma.stride = .max }, { $0.chroma.stride = 128 },
    ]
    for (number, change) in wrong.enumerated() {
      #expect(!description(change).holds(width: 64, height: 64), "\(number)")
    }
  }
}
