// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import CodecPeers
import Foundation
import Glibc
import H26x
import Synchronization
import TestSupport
import Testing

@testable import VideoDecoding

/// What a process under somebody else's control may answer: whatever it is, it is refused, or does no harm.
@Suite struct LyingProcessTests {
  /// A codec, and the process that lies to it.
  final class Liar {
    /// Nil when it has ended.
    private var process: LyingProcess?
    private let codec: RemoteCodec

    init(timeout: Duration = .milliseconds(20), surfaceCount: Int = 0, batchSize: Int = 0) throws {
      let process = try LyingProcess()
      self.process = process
      try process.answer([.finished(nil, CodecStatus(), consumedSlotCount: 0)])
      var settings = CodecSettings(codec: .h264)
      settings.surfaceCount = surfaceCount
      settings.batchSize = batchSize
      let bridge = PictureBridge(
        allocator: nil, layout: surfaceCount > 0 ? .semiPlanar : .native, surfaces: SurfaceExport(limit: surfaceCount))
      codec = try process.open(settings, bridge, timeout: timeout)
    }

    /// Answers with a picture in a device's memory, alone in its message.
    func answer(_ reply: CodecReply, descriptors: [Int32]) throws {
      var writer = MessageWriter()
      reply.write(to: &writer)
      try process?.send(writer.bytes, descriptors: descriptors)
    }

    func end() { process = nil }
    func flush() { codec.flush() }

    func samples(of surface: PictureSurface) throws -> PictureMemory? {
      try codec.samples(of: surface, width: 64, height: 64)
    }

    func answer(_ replies: [CodecReply]) throws(LinkError) { try process?.answer(replies) }

    func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(LinkError) {
      try process?.send(bytes, descriptors: descriptors)
    }

    /// Has the codec decode an access unit; returns its error and what it reports.
    func decode(_ index: UInt64 = 0) throws -> (error: AVError?, events: [CodecEvent]) {
      let packet = try PacketPool().packet(copying: [UInt8](repeating: 1, count: 100).span, timestamp: Int64(index))
      var events: [CodecEvent] = []
      do throws(AVError) {
        try codec.decode(packet, index: index) { events.append($0) }
        return (nil, events)
      } catch { return (error, events) }
    }
  }

  private static let finished = CodecReply.finished(nil, CodecStatus(), consumedSlotCount: 0)

  private static func request(
    width: Int = 64, height: Int = 64, alignedWidth: Int = 64, alignedHeight: Int = 64, alignment: Int = 64
  ) -> CodecReply {
    .slotRequest(
      SlotRequest(
        number: 1,
        picture: PictureRequest(
          pixelFormat: .yuv420p, codedWidth: width, codedHeight: height, crop: PictureCrop(),
          alignedWidth: alignedWidth, alignedHeight: alignedHeight, strideAlignment: alignment)))
  }

  private static func picture(index: UInt64? = 0, width: Int = 64, height: Int = 64, slot: Int = 0) -> CodecReply {
    .picture(
      PictureDescription(index: index, width: width, height: height), slot: slot, [], isDraining: false, CodecStatus())
  }

  @Test func acceptsValidRecords() throws {
    let liar = try Liar()
    try liar.answer([Self.request()])
    try liar.answer([
      .begun(index: 0), .decoded(index: 0, nil, []), Self.picture(), .released(slot: 0), Self.finished,
    ])
    let (error, events) = try liar.decode()
    #expect(error == nil)
    #expect(events.count == 2)
  }

  @Test(arguments: [1, 4]) func aBatchIsSentBeforeTheLastIsAnswered(_ batchSize: UInt64) throws {
    let liar = try Liar(batchSize: Int(batchSize))
    // Nothing has to be answered for the first batch, and for the second only the first.
    for index in 0..<2 * batchSize - 1 {
      let (error, events) = try liar.decode(index)
      #expect(error == nil && events.isEmpty)
    }
    try liar.answer((0..<batchSize).map { .decoded(index: $0, nil, []) } + [Self.finished])
    let (error, events) = try liar.decode(2 * batchSize - 1)
    #expect(error == nil && events.count == Int(batchSize))
  }

  @Test func acceptsAnswersFromBeforeTheProcessEnded() throws {
    let liar = try Liar(batchSize: 1)
    _ = try liar.decode(0)
    try liar.answer([.decoded(index: 0, nil, []), Self.finished])
    liar.end()
    let (error, events) = try liar.decode(1)
    #expect(error == .processEnded(signal: 0))
    #expect(events.count == 1)
  }

  @Test func ignoresAnswersFromBeforeAFlush() throws {
    let liar = try Liar(batchSize: 1)
    _ = try liar.decode(0)
    liar.flush()
    try liar.answer([.decoded(index: 0, nil, []), Self.finished])
    #expect(try liar.decode(1).events.isEmpty)
    try liar.answer([.decoded(index: 1, nil, []), Self.finished])
    #expect(try liar.decode(2).events.count == 1)
  }

  /// Lies, each behind a request for a slot that is granted.
  static let lies: [[CodecReply]] = [
    [picture(slot: 1), finished],
    [picture(slot: CodecReply.slotLimit - 1), finished],
    [picture(width: 65), finished],
    [picture(height: 0), finished],
    [picture(width: Int(Int32.max), height: Int(Int32.max)), finished],
    [picture(index: 1), finished],
    [.released(slot: 0), .released(slot: 0), finished],
    [.released(slot: 0), picture(), finished],
    [.begun(index: 7), finished],
    [.decoded(index: UInt64.max, nil, []), finished],
    [.failed(index: 1, .invalidData), finished],
    [.unplaced(index: 1), finished],
    [finished, finished],
    [.decoded(index: 0, .processEnded(signal: 11), []), finished],
    [.finished(nil, CodecStatus(reorderDepth: 17), consumedSlotCount: 0)],
    [.finished(nil, CodecStatus(threadDelay: Int.max), consumedSlotCount: 0)],
    [request(width: 0)],
    [request(width: 1 << 16, height: 1 << 16, alignedWidth: 1 << 16, alignedHeight: 1 << 16)],
    [request(alignedWidth: 63)],
    [request(alignedHeight: 1 << 16)],
    [request(alignment: 0)],
    [request(alignment: 48)],
    [request(alignment: 1 << 20)],
  ]

  @Test(arguments: lies.indices) func invalidRecordsEndTheProcess(_ number: Int) throws {
    let liar = try Liar()
    try liar.answer([Self.request()])
    try liar.answer(Self.lies[number])
    #expect(try liar.decode().error == .protocolViolation)
    // It is lost for good.
    try liar.answer([Self.finished])
    #expect(try liar.decode(1).error == .protocolViolation)
  }

  @Test(arguments: [[0], [200], [7], [2, 1, 2], Array(repeating: 1, count: 4000)] as [[UInt8]])
  func malformedRecordsEndTheProcess(_ bytes: [UInt8]) throws {
    let liar = try Liar()
    try liar.send(bytes)
    #expect(try liar.decode().error == .protocolViolation)
  }

  @Test func endlessRecordsEndTheProcess() throws {
    let liar = try Liar(timeout: .seconds(3600))
    let many = Array(repeating: CodecReply.begun(index: 0), count: 4000)
    nonisolated(unsafe) let other = liar
    // More than are taken. The receiver may be slow.
    let sender = Thread { for _ in 0..<17 { while (try? unsafe other.answer(many)) == nil {} } }
    sender.start()
    #expect(try liar.decode().error == .protocolViolation)
  }

  /// A process answers slowly: each record comes alone, a while after the one before, and none of them ends anything.
  @Test(arguments: ["picture", "decoded", "request"]) func recordsDoNotExtendTheDeadline(_ kind: String) throws {
    let liar = try Liar(timeout: .milliseconds(300))
    try liar.answer([Self.request()])
    nonisolated(unsafe) let other = liar
    let isOver = Atomic(false)
    let sender = Thread {
      while !isOver.load(ordering: .relaxed) {
        usleep(50_000)
        let record: CodecReply =
          switch kind {
          case "picture": Self.picture()
          case "decoded": .decoded(index: 0, nil, [])
          default: Self.request()
          }
        try? unsafe other.answer([record])
      }
    }
    sender.start()
    #expect(try liar.decode().error == .timedOut)
    isOver.store(true, ordering: .relaxed)
    while !sender.isFinished { usleep(1000) }
  }

  @Test func endlessMemoryRequestsEndTheProcess() throws {
    let liar = try Liar(timeout: .seconds(3600))
    nonisolated(unsafe) let other = liar
    let isOver = Atomic(false)
    let sender = Thread { while !isOver.load(ordering: .relaxed) { try? unsafe other.answer([Self.request()]) } }
    sender.start()
    #expect(try liar.decode().error == .protocolViolation)
    isOver.store(true, ordering: .relaxed)
    while !sender.isFinished { usleep(1000) }
  }

  @Test func reportsWhyAPictureHasNoMemory() throws {
    let liar = try Liar()
    try liar.answer([.decoded(index: 0, nil, []), .unplaced(index: 0), Self.finished])
    let (error, events) = try liar.decode()
    #expect(error == nil)
    guard case .unplaced(0, .outOfMemory)? = events.last else {
      Issue.record("\(events.count) events")
      return
    }
  }

  @Test func aReleaseRecordDoesNotFreeAHeldPicture() throws {
    let liar = try Liar()
    try liar.answer([Self.request()])
    try liar.answer([Self.picture(), .released(slot: 0), Self.finished])
    let (_, events) = try liar.decode()
    guard case .picture(_, let held, _, _, _)? = events.first else {
      Issue.record("no picture")
      return
    }
    // The slot is not granted again as long as somebody holds the picture.
    try liar.answer([Self.request()])
    try liar.answer([Self.picture(index: 1), Self.finished])
    #expect(try liar.decode(1).error == .protocolViolation)
    extendLifetime(held)
  }

  /// More of them with `LYING_SEEDS`.
  static let seeds = unsafe 0..<max(1, getenv("LYING_SEEDS").flatMap { unsafe Int(String(cString: $0)) } ?? 8)

  /// As the fuzz subject "codec-process".
  @Test(arguments: seeds) func randomBytesNeverTrap(_ seed: Int) {
    var random = SeededGenerator(state: UInt64(seed))
    for _ in 0..<50 {
      let input = (0..<1 + random.below(2000)).map { _ in UInt8(random.below(256)) }
      #expect(LyingProcessSession.run(input) == nil, "\(input)")
    }
  }
}
