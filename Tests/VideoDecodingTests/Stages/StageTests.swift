// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Synchronization
import Testing

@testable import VideoDecoding

/// The session's smaller stages, each by itself.
@Suite struct StageTests: StageBuilders {
  @Test func ringQueueKeepsOrderWhileItGrows() {
    var queue = RingQueue<Int>()
    var (next, expected) = (0, 0)
    for round in 0..<50 {
      for _ in 0..<(round % 7) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round % 5) where queue.count > 0 {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
    }
    #expect(queue.count > 16)
    queue.removeAll()
    #expect(queue.count == 0 && queue.popFirst() == nil)
  }

  @Test func distinguishesStartedPictures() {
    let started = StartedPictures()
    #expect(!started.contains(0))
    started.insert(0)
    started.insert(1025)
    #expect(started.contains(0) && started.contains(1025) && !started.contains(1))
    started.insert(1024)
    #expect(!started.contains(0))
  }

  // MARK: Output

  @Test func boundsNotices() {
    var output = SessionOutput()
    for index in 0..<20 {
      output.notify(.codecLost(DecodeError(.malfunction, accessUnitNumber: UInt64(index))))
    }
    var numbers: [UInt64] = []
    while case .codecLost(let error)? = output.nextNotice() { numbers += [error.accessUnitNumber ?? 0] }
    #expect(numbers == Array(4..<20))
  }

  @Test func comparesCodecsByTheirProgress() throws {
    let (one, other) = (try runningCodec(CodecScript()), try runningCodec(CodecScript()))
    #expect(one.isAsFar(as: other))
    _ = try events(other, decoding: 3)
    #expect(!one.isAsFar(as: other) && other.isAsFar(as: one))
    _ = try events(one, decoding: 2)
    #expect(!one.isAsFar(as: other))
    _ = try events(one, decoding: 3)
    #expect(one.isAsFar(as: other))
  }

  /// A decoding ends when there are more in threads than they can hold, and all end in the end.
  @Test func endsDecodingsInOrder() throws {
    let script = CodecScript()
    script.threadDelay = 2
    let codec = try runningCodec(script)
    #expect(try events(codec, decoding: 0) == [] && events(codec, decoding: 1) == [])
    script.send = { _, index, _ in index == 2 ? .invalidData : nil }
    // The error belongs to the decoding that ends.
    #expect(try events(codec, decoding: 2) == ["decoded 0, error \(AVError.invalidData.rawValue)"])
    var drained: [String] = []
    try codec.drain { drained.append(Self.text($0)) }
    #expect(drained == ["decoded 1", "decoded 2"])
    codec.flush()
    script.send = { _, index, _ in index == 3 ? .invalidData : nil }
    #expect(try events(codec, decoding: 3) == ["failed 3, error \(AVError.invalidData.rawValue)"])
    codec.flush()
    drained = []
    try codec.drain { drained.append(Self.text($0)) }
    #expect(drained == [])
  }

  private func runningCodec(_ script: CodecScript) throws -> any CodecBoundary {
    try script.opener(CodecSettings(codec: .h264), PictureBridge(allocator: nil, layout: .native))
  }

  private func events(_ codec: any CodecBoundary, decoding index: UInt64) throws -> [String] {
    var events: [String] = []
    let packet = try PacketPool().packet(copying: [1].span, timestamp: Int64(index))
    try codec.decode(packet, index: index) { events.append(Self.text($0)) }
    return events
  }

  private static func text(_ event: CodecEvent) -> String {
    switch event {
    case .decoded(let index, let error, _): "decoded \(index)" + (error.map { ", error \($0.rawValue)" } ?? "")
    case .failed(let index, let error): "failed \(index), error \(error.rawValue)"
    case .unplaced(let index, let error): "unplaced \(index), error \(error.rawValue)"
    case .picture: "picture"
    }
  }

  // MARK: Memory

  @Test func recyclesPictureMemory() throws {
    let pool = PicturePool()
    var address: UInt?
    do {
      let block = try #require(pool.block(byteCount: 4096))
      unsafe block.start[0] = 7
      address = unsafe UInt(bitPattern: block.start)
    }
    let again = try #require(pool.block(byteCount: 4096))
    #expect(unsafe UInt(bitPattern: again.start) == address && again.start[0] == 7)
    // Memory in use is not given again, and new memory is zeroed.
    let second = try #require(pool.block(byteCount: 4096))
    #expect(unsafe UInt(bitPattern: second.start) != address && second.start[0] == 0)
    let other = try #require(pool.block(byteCount: 64))
    #expect(other.byteCount == 64)
  }

  /// Forty blocks are kept; more are freed.
  @Test func keepsPictureMemoryUpToALimit() throws {
    let pool = PicturePool()
    do {
      var blocks: [PicturePool.Block] = []
      for _ in 0..<41 { blocks.append(try #require(pool.block(byteCount: 256))) }
      for block in blocks { unsafe block.start[0] = 9 }
      blocks.removeAll()
    }
    var blocks: [PicturePool.Block] = []
    for _ in 0..<41 { blocks.append(try #require(pool.block(byteCount: 256))) }
    let recycled = blocks.count { unsafe $0.start[0] == 9 }
    #expect(recycled == 40)
  }

  @Test func countsMissesOfTheAllocator() throws {
    let units = try mediaAccessUnits("clip.h264")
    let configuration = SessionConfiguration.threadings[0]
    let refusing = TestAllocator { $0 % 3 == 1 ? nil : 0 }
    let session = try makeSession(units, configuration, allocator: refusing)
    var run = Run()
    try session.run(units, into: &run)
    let requests = refusing.requests.load(ordering: .relaxed)
    #expect(session.statistics.allocatorMisses == UInt64((requests + 1) / 3))
    #expect(run.frames.filter { $0.token == nil }.count == (requests + 1) / 3)
    let without = try makeSession(units, configuration)
    var other = Run()
    try without.run(units, into: &other)
    #expect(without.statistics.allocatorMisses == 0)
  }

  /// Memory that libavcodec cannot write is not used.
  @Test func countsUnsuitableMemoryAsAMiss() throws {
    let units = Array(try mediaAccessUnits("clip.h264").prefix(4))
    let unaligned = TestAllocator { _ in 1 }
    let session = try makeSession(units, .threadings[0], allocator: unaligned)
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.frames.count == 4 && run.frames.allSatisfy { $0.token == nil })
    #expect(session.statistics.allocatorMisses == UInt64(unaligned.requests.load(ordering: .relaxed)))
  }

  // MARK: Statistics

  @Test(arguments: [true, false]) func countsCorruptPictures(_ outputCorrupt: Bool) throws {
    var units = try mediaAccessUnits("open-gop.h264")
    let configuration = SessionConfiguration.with {
      $0.threadType = .none
      $0.outputCorrupt = outputCorrupt
    }
    let halved = try #require(units.indices.first { $0 > 15 && isReference(units[$0]) && units[$0].count > 200 })
    units[halved].removeLast(units[halved].count / 2)
    let session = try makeSession(units, configuration)
    var run = Run()
    try session.run(units, into: &run)
    let damaged = outputCorrupt ? run.frames.count { $0.isCorrupt } : run.drops.count { $0 == .corrupt }
    #expect(damaged > 0 && session.statistics.corrupted == UInt64(damaged))
    #expect(session.statistics.concealed == 1)
    #expect(session.statistics.output == UInt64(run.frames.count))
    #expect(session.statistics.dropped == UInt64(run.drops.count))
    if !outputCorrupt { #expect(run.frames.allSatisfy { !$0.isCorrupt }) }
  }

  // MARK: Errors

  @Test(arguments: [
    (DecodeError.Reason.badData, Int32(-12909)), (.unsupportedFeature, -12910), (.malfunction, -12911),
    (.invalidSession, -12903), (.formatChangeNotSupported, -12916), (.invalidFormatDescription, -12712),
    (.decoderNotFound, -12906), (.allocationFailed, -12904), (.invalidArgument, -12902),
  ])
  func everyReasonHasItsStatus(_ reason: DecodeError.Reason, _ status: Int32) {
    #expect(DecodeError(reason).status == status)
  }

  @Test func mapsErrorCodesToReasons() {
    #expect(DecodeError(losing: .outOfMemory).reason == .allocationFailed)
    #expect(DecodeError(losing: .noDevice).reason == .malfunction)
    #expect(DecodeError(losing: .invalidData).reason == .badData)
    #expect(DecodeError(opening: CodecFailure(.invalidData)).reason == .invalidFormatDescription)
    #expect(DecodeError(opening: CodecFailure(.decoderNotFound)).reason == .decoderNotFound)
    #expect(DecodeError(opening: CodecFailure(.external)).reason == .malfunction)
    for code in [AVError.external, .outOfMemory, .inputOutput, .noDevice, .unknown, .bug, .bug2] {
      #expect(code.meansLostSession)
    }
    for code in [AVError.invalidData, .tryAgain, .endOfFile, .unsupportedFeature, .invalidArgument] {
      #expect(!code.meansLostSession)
    }
  }
}
