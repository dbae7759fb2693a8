// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// A session before a scripted codec: how it is opened, what it is sent, and what becomes of its answers.
@Suite struct DecompressionSessionTests {
  private let script = CodecScript()
  private let sets = [MinimalStream.sps(), MinimalStream.pps()]
  private let configuration = SessionConfiguration.with { $0.threadType = .none }

  private func format() throws -> FormatDescription { try FormatDescription(h264ParameterSets: sets) }

  private func session(
    _ configuration: SessionConfiguration? = nil, _ format: FormatDescription? = nil
  ) throws -> DecompressionSession {
    try DecompressionSession(
      format: format ?? self.format(), configuration: configuration ?? self.configuration, allocator: nil,
      openCodec: script.opener)
  }

  /// An IDR picture and pictures that follow it.
  private func decode(_ range: Range<UInt64>, in session: DecompressionSession) throws {
    for index in range {
      let picture =
        index == 0 ? SmallPicture.idr : SmallPicture(frameNumber: UInt32(index % 16))
      try session.decode(picture.accessUnit(), tag: index + 100)
    }
  }

  /// Drops and failures in words.
  private func results(_ session: DecompressionSession) -> [String] {
    var texts: [String] = []
    while let result = session.nextResult() {
      switch result {
      case .frame: texts.append("\(result.tag) frame")
      case .dropped(_, let reason): texts.append("\(result.tag) \(reason)")
      case .failed(_, let error): texts.append("\(result.tag) failed: \(error.reason)")
      }
    }
    return texts
  }

  // MARK: Opening

  @Test(
    arguments: [
      (.automatic, false, 3, true, true), (.automatic, true, 3, false, true), (.slice, false, 3, false, true),
      (.slice, true, 3, false, true), (.frame, false, 3, true, false), (.frame, true, 3, true, false),
      (.none, false, 1, false, true),
    ] as [(SessionConfiguration.ThreadType, Bool, Int, Bool, Bool)])
  func threadTypeDecidesTheThreads(
    _ type: SessionConfiguration.ThreadType, _ lowDelay: Bool, _ count: Int, _ frames: Bool, _ slices: Bool
  ) throws {
    _ = try session(
      .with {
        $0.threadType = type
        $0.threadCount = 3
        $0.lowDelay = lowDelay
        $0.maximumPixels = 12_345
      })
    let settings = try #require(script.settings.first)
    #expect(settings.threadCount == count && settings.useFrameThreads == frames && settings.lowDelay == lowDelay)
    #expect(settings.useSliceThreads == slices && settings.maximumPixels == 12_345 && settings.reorderDepth == 0)
    #expect(settings.codec == .h264 && settings.extradata == MinimalStream.annexB(sets))
  }

  /// The deepest reordering that the format allows, and whether the codec is to expect it.
  @Test(
    arguments: [
      (0, .expect, false, false), (1, .expect, false, true), (1, .expect, true, false), (4, .adapt, false, false),
    ] as [(Int, SessionConfiguration.UnknownReordering, Bool, Bool)])
  func decidesWhetherToExpectReordering(
    _ maximum: Int, _ reordering: SessionConfiguration.UnknownReordering, _ lowDelay: Bool, _ expects: Bool
  ) throws {
    var format = try format()
    format.maximumReorderFrames = maximum
    _ = try session(
      .with {
        $0.unknownReordering = reordering
        $0.lowDelay = lowDelay
      }, format)
    #expect(script.settings.first?.expectsDeepestReordering == expects)
  }

  /// The reordering that the stream signals, its maximum, the codec's reorder depth, and the result.
  @Test(
    arguments: [
      (nil, 4, 0, true, 4), (nil, 4, 6, true, 6), (nil, 4, 1, false, 1), (nil, 40, 0, true, 15), (2, 4, 0, true, 2),
      (2, 4, 3, true, 3), (0, 4, 0, true, 0), (2, 4, 0, false, 2),
    ] as [(Int?, Int, Int, Bool, Int)])
  func computesLatency(_ sent: Int?, _ maximum: Int, _ codec: Int, _ expects: Bool, _ depth: Int) throws {
    var format = try format()
    format.sentReorderFrames = sent
    format.maximumReorderFrames = maximum
    (script.reorderDepth, script.threadDelay) = (codec, 5)
    let session = try session(.with { $0.unknownReordering = expects ? .expect : .adapt }, format)
    #expect(session.latency == SessionLatency(reorderDepth: depth, threadDelay: 5))
  }

  @Test(arguments: [(-1, 1), (0, 1), (2, 3)]) func opensTheCodecWithRetries(_ retries: Int, _ openings: Int) throws {
    var count = 0
    let error = #expect(throws: DecodeError.self) {
      _ = try DecompressionSession(
        format: try format(), configuration: .with { $0.retries = retries }, allocator: nil,
        openCodec: { _, _ throws(CodecFailure) in
          count += 1
          throw CodecFailure(.noDevice)
        })
    }
    #expect(error?.reason == .malfunction && count == openings)
  }

  /// Settings that change in a session change in its configuration, too.
  @Test func theConfigurationReportsWhatIsInForce() throws {
    let session = try session(
      .with {
        $0.lowDelay = true
        $0.retries = 2
      })
    #expect(session.configuration.retries == 2 && session.configuration.skipFrames == .none)
    (session.retries, session.skipFrames, session.outputCorrupt) = (0, .bidirectional, false)
    let configuration = session.configuration
    #expect(configuration.retries == 0 && configuration.skipFrames == .bidirectional && !configuration.outputCorrupt)
    #expect(configuration.lowDelay)
    script.send = { _, index, _ in index == 1 ? .external : nil }
    try decode(0..<2, in: session)
    #expect(session.isLost && script.settings.count == 1)
  }

  // MARK: Skipping

  @Test(
    arguments: [
      (.none, .none), (.nonReference, .none), (.bidirectional, .bidirectional), (.nonKey, .nonKey),
    ] as [(SessionConfiguration.SkipFrames, CodecSettings.Skip)])
  func passesSkippingToTheCodec(_ skip: SessionConfiguration.SkipFrames, _ expected: CodecSettings.Skip) throws {
    let session = try session(.with { $0.skipFrames = skip }, H265Stream(media: "clip.h265").format)
    #expect(session.skipFrames == skip && script.settings.first?.skip == expected)
    session.skipFrames = .none
    session.skipFrames = skip
    #expect(script.skip == expected)
  }

  // MARK: Formats

  @Test func decidesWhichFormatsMayFollow() throws {
    let session = try session()
    var other = try FormatDescription(
      h264ParameterSets: [MinimalStream.sps(widthInMacroblocks: 4), MinimalStream.pps()])
    #expect(session.canAccept(other))
    other.nalLengthSize = .four
    #expect(!session.canAccept(other))
    let otherCodec = try H265Stream(media: "clip.h265").format
    #expect(!session.canAccept(otherCodec))
    let error = #expect(throws: DecodeError.self) { try session.accept(other) }
    #expect(error?.reason == .formatChangeNotSupported)
    session.invalidate()
    #expect(!session.canAccept(try format()))
    #expect(throws: DecodeError.self) { try session.accept(try format()) }
  }

  /// Only another format's parameter sets go in front of the next access unit.
  @Test func sendsParameterSetsOfAnotherFormatOnce() throws {
    let session = try session()
    let picture = SmallPicture.idr.accessUnit()
    try session.accept(try format())
    try session.decode(picture, tag: 0)
    let others = [MinimalStream.sps(widthInMacroblocks: 4), MinimalStream.pps()]
    let other = try FormatDescription(h264ParameterSets: others)
    try session.accept(other)
    try session.decode(picture, tag: 1)
    try session.decode(picture, tag: 2)
    #expect(session.format == other)
    #expect(script.bytes(0, 0) == picture && script.bytes(0, 2) == picture)
    #expect(script.bytes(0, 1) == MinimalStream.annexB(others) + picture)
  }

  // MARK: Results

  /// Sixteen frames of two fields, four more, and two for each thread's may be inside: the next one ends the first.
  @Test(arguments: [(0, 40), (3, 46)]) func boundsTheWaitForAPicture(_ threadDelay: Int, _ window: UInt64) throws {
    script.threadDelay = threadDelay
    let session = try session()
    try decode(0..<window, in: session)
    #expect(results(session) == [])
    try decode(window..<window + 2, in: session)
    #expect(results(session) == ["100 notShown", "101 notShown"])
  }

  /// An access unit without a picture pushes none out.
  @Test func accessUnitsWithoutPicturesEndNoWait() throws {
    script.begins = { !(1...5).contains($0) }
    let session = try session()
    try decode(0..<45, in: session)
    #expect(results(session) == ["101 noPicture", "102 noPicture", "103 noPicture", "104 noPicture", "105 noPicture"])
    try decode(45..<46, in: session)
    #expect(results(session) == ["100 notShown"])
    #expect(session.statistics.submitted == 46 && session.statistics.dropped == 6)
  }

  /// The frames to skip, whether the first slice is there, and the result if the codec makes no picture.
  @Test(
    arguments: [
      (SessionConfiguration.SkipFrames.none, true, "noPicture", 0), (.nonKey, true, "skipped", 0),
      (.none, false, "corrupt", 1),
    ] as [(SessionConfiguration.SkipFrames, Bool, String, UInt64)])
  func explainsAMissingPicture(
    _ skip: SessionConfiguration.SkipFrames, _ isWhole: Bool, _ reason: String, _ corrupted: UInt64
  ) throws {
    script.begins = { $0 != 1 }
    let session = try session(
      .with {
        $0.threadType = .none
        $0.skipFrames = skip
      })
    try decode(0..<1, in: session)
    try session.decode(
      SmallPicture(frameNumber: 1, firstMacroblocks: [isWhole ? 0 : 2]).accessUnit(), tag: 101)
    #expect(results(session) == ["101 \(reason)"] && session.statistics.corrupted == corrupted)
    // SEI alone is no picture, whatever is skipped.
    try session.decode(MinimalStream.annexB([SmallPicture.recoveryPoint(frameCount: 0)]), tag: 102)
    #expect(results(session) == ["102 noPicture"])
  }

  /// A picture that was begun comes out in its turn, damaged as it may be; one that was not has failed.
  @Test(arguments: [true, false]) func badDataFailsAnAccessUnit(_ begins: Bool) throws {
    script.send = { _, index, _ in index == 1 ? .invalidData : nil }
    script.begins = { $0 != 1 || begins }
    let session = try session()
    try decode(0..<3, in: session)
    let error = try #require(session.statistics.lastError)
    #expect(error.reason == .badData && error.tag == 101 && error.accessUnitNumber == 1 && error.nalUnitType == 1)
    #expect(results(session) == (begins ? [] : ["101 failed: badData"]))
    session.drain()
    #expect(results(session) == ["100 notShown"] + (begins ? ["101 failed: badData"] : []) + ["102 notShown"])
    #expect(session.statistics.failed == 1 && session.statistics.restarts == 0)
  }

  /// With frame threads, an error is that of the access unit whose decoding ends.
  @Test func errorsBelongToTheAccessUnitWhoseDecodingEnds() throws {
    script.threadDelay = 2
    script.begins = { $0 == 0 }
    script.send = { _, index, _ in index == 3 ? .invalidData : nil }
    let session = try session()
    try decode(0..<4, in: session)
    #expect(results(session) == ["101 failed: badData"])
    session.drain()
    #expect(results(session) == ["102 noPicture", "103 noPicture", "100 notShown"])
  }

  @Test(
    arguments: [
      (nil, ["101 noPicture", "102 noPicture", "100 notShown"]),
      (.endOfFile, ["101 noPicture", "102 noPicture", "100 notShown"]),
      (.invalidData, ["101 noPicture", "102 noPicture", "100 failed: badData"]),
    ] as [(AVError?, [String])])
  func reportsErrorsOfADrain(_ end: AVError?, _ expected: [String]) throws {
    script.threadDelay = 3
    script.begins = { $0 == 0 }
    script.end = end
    let session = try session()
    try decode(0..<3, in: session)
    #expect(results(session) == [])
    session.drain()
    #expect(results(session) == expected)
  }

  // MARK: A codec that is lost

  /// A codec may refuse a packet three times until its pictures are received; after that it is broken.
  @Test(arguments: [AVError.tryAgain, .endOfFile], [(3, 0), (4, 1)])
  func offersARefusedPacketAgain(_ answer: AVError, _ refusals: (times: Int, restarts: UInt64)) throws {
    script.send = { opening, index, time in opening == 0 && index == 1 && time < refusals.times ? answer : nil }
    let session = try session()
    try decode(0..<3, in: session)
    #expect(script.indices() == [0, 1, 1, 1, 1] + (refusals.restarts == 0 ? [2] : []))
    #expect(script.flushes == (answer == .endOfFile ? 3 : 0))
    #expect(session.statistics.restarts == refusals.restarts)
    #expect(session.statistics.lastError?.libavcodecCode == (refusals.restarts == 0 ? nil : AVError.bug.rawValue))
  }

  /// The next codec gets the parameter sets, and all that the lost one had.
  @Test func replaysParameterSetsAndAccessUnits() throws {
    script.send = { opening, index, _ in opening == 0 && index == 3 ? .external : nil }
    let session = try session()
    try decode(0..<5, in: session)
    #expect(script.indices() == [0, 1, 2, 3] && script.indices(1) == [0, 1, 2, 3, 4])
    #expect(script.bytes(1, 0) == MinimalStream.annexB(sets) + SmallPicture.idr.accessUnit())
    #expect(script.bytes(1, 1) == SmallPicture(frameNumber: 1).accessUnit())
    #expect(session.statistics.restarts == 1 && session.statistics.replayed == 3)
    #expect(session.statistics.resynchronisations == 0 && session.nextNotice() == nil)
    #expect(session.statistics.lastError?.reason == .malfunction && !session.isLost)
  }

  /// Frame threads and batches learn late how deep the reordering is: the next codec gets all that is known; without them
  /// it begins as the lost one did.
  @Test(
    arguments: [
      (.none, 2, 1), (.slice, 2, 1), (.frame, 2, 3), (.frame, 1, TestIsolation.isTested ? 3 : 1),
      (.automatic, 2, 3),
    ] as [(SessionConfiguration.ThreadType, Int, Int)])
  func passesTheReorderDepthToTheNextCodec(
    _ type: SessionConfiguration.ThreadType, _ threadCount: Int, _ depth: Int
  ) throws {
    script.send = { opening, index, _ in opening == 0 && index == 2 ? .external : nil }
    script.reorderDepth = 1
    let session = try session(
      .with {
        $0.threadType = type
        $0.threadCount = threadCount
      })
    try decode(0..<1, in: session)
    script.reorderDepth = 3
    try decode(1..<3, in: session)
    #expect(script.settings.map(\.reorderDepth) == [0, depth])
  }

  /// Pictures inside are dropped, the access unit that no codec took has failed, and decoding does not continue without
  /// a random access point.
  @Test func dropsPicturesOfACodecThatCannotBeReplaced() throws {
    script.send = { _, index, _ in index == 2 ? .external : nil }
    let session = try session(
      .with {
        $0.threadType = .none
        $0.retries = 2
      })
    try decode(0..<4, in: session)
    #expect(script.settings.count == 3 && session.statistics.restarts == 2 && session.statistics.replayed == 4)
    #expect(results(session) == ["100 sessionLost", "101 sessionLost", "102 failed: malfunction", "103 sessionLost"])
    #expect(session.isLost && session.statistics.resynchronisations == 1)
    guard case .codecLost(let error)? = session.nextNotice() else {
      Issue.record("no notice")
      return
    }
    #expect(error.tag == 102 && error.reason == .malfunction)
    try session.decode(SmallPicture.idr.accessUnit(), tag: 104)
    #expect(!session.isLost && script.settings.count == 4 && script.indices(3) == [4])
    #expect(script.bytes(3, 0) == MinimalStream.annexB(sets) + SmallPicture.idr.accessUnit())
  }

  // MARK: Drains and flushes

  /// A codec that was drained has forgotten its references: they go before anything but an IDR picture.
  @Test(arguments: [true, false]) func resendsReferencesAfterADrain(_ isIDR: Bool) throws {
    let session = try session()
    try decode(0..<2, in: session)
    session.drain()
    #expect(results(session) == ["100 notShown", "101 notShown"] && script.flushes == 1)
    let next = isIDR ? SmallPicture.idr : SmallPicture(frameNumber: 2)
    try session.decode(next.accessUnit(), tag: 102)
    #expect(script.indices() == (isIDR ? [0, 1, 2] : [0, 1, 0, 1, 2]))
    #expect(session.statistics.replayed == (isIDR ? 0 : 2) && session.statistics.restarts == 0)
    // Once.
    try session.decode(SmallPicture(frameNumber: isIDR ? 1 : 3).accessUnit(), tag: 103)
    #expect(script.indices().suffix(2) == [2, 3])
  }

  @Test func resendsNothingAfterAFlush() throws {
    let session = try session()
    try decode(0..<2, in: session)
    session.flush()
    #expect(results(session) == ["100 flushed", "101 flushed"] && script.flushes == 1)
    try session.decode(SmallPicture(frameNumber: 2).accessUnit(), tag: 102)
    #expect(session.isAwaitingRandomAccessPoint && script.indices() == [0, 1])
    try session.decode(SmallPicture.idr.accessUnit(), tag: 103)
    #expect(!session.isAwaitingRandomAccessPoint && script.indices() == [0, 1, 3])
    #expect(results(session) == ["102 beforeRandomAccessPoint"])
  }

  @Test func flushesPendingAccessUnitsWhenInvalidated() throws {
    let session = try session()
    try session.decode(SmallPicture().accessUnit(), tag: 99)
    #expect(session.isAwaitingRandomAccessPoint)
    session.invalidate()
    #expect(!session.isAwaitingRandomAccessPoint && results(session) == ["99 flushed"])
    session.invalidate()
    #expect(session.nextResult() == nil && session.statistics.dropped == 1)
    let error = #expect(throws: DecodeError.self) { try session.decode(SmallPicture.idr.accessUnit(), tag: 5) }
    #expect(error?.reason == .invalidSession && error?.tag == 5)
  }

  @Test func refusesEmptyAccessUnits() throws {
    let session = try session()
    let error = #expect(throws: DecodeError.self) { try session.decode([], tag: 5) }
    #expect(error?.reason == .invalidArgument && error?.tag == 5 && session.statistics.submitted == 0)
  }
}
