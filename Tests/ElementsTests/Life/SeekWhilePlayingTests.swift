// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import HarnessSupport
import TestSupport
import Testing

/// Seeks in a byte stream that plays in real time, so that each interrupts a push: the sink holds a picture until its
///
/// Every picture has its number in its last bytes, so that its true time is known wherever it comes out.
@Suite(.serialized) struct SeekWhilePlayingTests {
  init() { #expect(Registration.succeeded) }

  private static let second: Int64 = 1_000_000_000
  private static let frame: UInt64 = 40_000_000

  /// Thirty seconds, 25 pictures a second, a keyframe a second.
  private static func file(_ codec: StreamCodec) throws -> String {
    var bytes: [UInt8] = []
    let sets = RepackStream.annexB(codec.parameterSets(reorder: 0))
    for number in UInt32(0)..<750 {
      let index = number % 25
      if index == 0 { bytes += sets }
      let slice = codec.picture(
        index == 0 ? .idr : .p, number: index, order: index, group: number / 25, size: index == 0 ? 900 : 300)
      bytes += RepackStream.annexB([slice])
      bytes += [14, 7, 0].map { UInt8(truncatingIfNeeded: 0x80 | number >> $0) }
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "seek-\(UUID().uuidString).\(codec)")
    try Data(bytes).write(to: path)
    return path.path
  }

  /// The number of the picture in a buffer; nil when there is none in it.
  private static func number(_ bytes: [UInt8]) -> UInt64? {
    guard bytes.count > 200 else { return nil }
    return bytes.suffix(3).reduce(0) { $0 << 7 | UInt64($1 & 0x7F) }
  }

  private struct Jump {
    var rate = 1.0
    var flags = GST_SEEK_FLAG_ACCURATE
    var seconds: Double
    /// How often, one right after another.
    var times = 1
  }

  /// Plays for a while, seeks, and waits for pictures around where that went, again and again.
  private func play(_ codec: StreamCodec, _ chain: String, _ jumps: [Jump]) throws {
    let path = try Self.file(codec)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pipeline = try WatchedPipeline(
      "filesrc location=\(path) ! \(codec.chain(chain)) ! fakesink name=sink sync=true")
    try #require(pipeline.go(to: GST_STATE_PLAYING))
    for (jump, previous) in zip(jumps, [Jump(seconds: 0)] + jumps) {
      // Playing backwards, all of a short part may have arrived by now.
      let before = previous.rate > 0 ? pipeline.arrivals.count : 0
      let goesOn = pipeline.wait { $0.count > before + 12 }
      try #require(goesOn, "only \(pipeline.arrivals.count - before) more before \(jump.seconds) s at \(jump.rate)")
      let target = Int64(jump.seconds * Double(Self.second))
      for _ in 0..<jump.times {
        let isForwards = jump.rate > 0
        let sought = pipeline.seek(
          rate: jump.rate, jump.flags, from: isForwards ? target : 0, to: isForwards ? -1 : target)
        try #require(sought)
      }
      let flushes = pipeline.flushes
      // Numbers around the target: from the keyframe before it, with a second of tolerance.
      let near = pipeline.wait { arrivals in
        arrivals.filter { arrival in
          arrival.flushes == flushes && arrival.pts != .max
            && abs(Int64(clamping: arrival.pts) - target) <= 2 * Self.second
        }.count > 4
      }
      #expect(near, "nothing near \(jump.seconds) s")
      // The sink shows buffers of the segment: at or after the target, or before it when playing backwards.
      let shown = pipeline.wait { arrivals in
        arrivals.contains { arrival in
          arrival.flushes == flushes
            && (jump.rate > 0 ? arrival.pts >= UInt64(target) : arrival.pts < UInt64(target))
        }
      }
      #expect(shown, "nothing is shown at \(jump.seconds) s")
    }
    let arrivals = pipeline.arrivals
    var wrong: [Int: String] = [:]
    for arrival in arrivals {
      guard let number = Self.number(arrival.bytes), wrong[arrival.flushes] == nil else { continue }
      // The base class may be a picture off if it estimates a byte position by the bit rate.
      let distance = Int64(clamping: arrival.pts) - Int64(number * Self.frame)
      if abs(distance) > Int64(Self.frame) {
        wrong[arrival.flushes] = "picture \(number) at \(Double(arrival.pts) / 1e9) s"
      }
    }
    #expect(wrong.isEmpty, "after flush: \(wrong.sorted { $0.key < $1.key })")
  }

  static let chains = TestScope.rows(
    [
      "swifth264parse", "swifth264parse ! video/x-h264,alignment=nal", "swifth264parse ! queue max-size-buffers=2",
      "swifth264parse ! video/x-h264,stream-format=avc",
    ], usually: 1)

  @Test(arguments: StreamCodec.allCases, chains) func seeksForwards(_ codec: StreamCodec, _ chain: String) throws {
    try play(codec, chain, [Jump(seconds: 3), Jump(seconds: 18), Jump(flags: GST_SEEK_FLAG_KEY_UNIT, seconds: 24.3)])
  }

  @Test(arguments: StreamCodec.allCases, chains) func seeksBackwards(_ codec: StreamCodec, _ chain: String) throws {
    try play(
      codec, chain,
      [Jump(seconds: 18), Jump(seconds: 7), Jump(seconds: 0), Jump(flags: GST_SEEK_FLAG_KEY_UNIT, seconds: 4)])
  }

  /// Each seek interrupts the one before.
  @Test(arguments: StreamCodec.allCases, chains)
  func seeksInterruptEarlierOnes(_ codec: StreamCodec, _ chain: String) throws {
    try play(codec, chain, [Jump(seconds: 12, times: 5), Jump(seconds: 3, times: 8), Jump(seconds: 20, times: 3)])
  }

  /// A seek to the start is interrupted while the parser reads ahead, before it has consumed anything.
  @Test(arguments: StreamCodec.allCases, chains)
  func seeksWhileReadingAhead(_ codec: StreamCodec, _ chain: String) throws {
    let path = try Self.file(codec)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pipeline = try WatchedPipeline(
      "filesrc name=source location=\(path) ! \(codec.chain(chain)) ! fakesink name=sink sync=true")
    try #require(pipeline.go(to: GST_STATE_PLAYING))
    let target = 12 * Self.second
    // Now the base class has the keyframe at the target in its index.
    #expect(try firstPicture(pipeline, from: target) == (300, UInt64(target)))
    let isHeld = pipeline.holdPull(ofAtLeast: 128 << 10)
    try #require(pipeline.seek(GST_SEEK_FLAG_ACCURATE, from: 0))
    try #require(pipeline.wait { _ in isHeld() })
    #expect(try firstPicture(pipeline, from: target) == (300, UInt64(target)))
  }

  /// The first picture after a seek.
  private func firstPicture(_ pipeline: WatchedPipeline, from target: Int64) throws -> (number: UInt64, pts: UInt64) {
    try #require(pipeline.seek(GST_SEEK_FLAG_ACCURATE, from: target))
    let flushes = pipeline.flushes
    func first(_ arrivals: [WatchedPipeline.Arrival]) -> (number: UInt64, pts: UInt64)? {
      arrivals.lazy.filter { $0.flushes == flushes }.compactMap { arrival in
        Self.number(arrival.bytes).map { ($0, arrival.pts) }
      }.first
    }
    try #require(pipeline.wait { first($0) != nil })
    return try #require(first(pipeline.arrivals))
  }

  @Test(arguments: StreamCodec.allCases, chains) func seeksAtOtherRates(_ codec: StreamCodec, _ chain: String) throws {
    try play(codec, chain, [Jump(rate: 2, seconds: 10), Jump(rate: 0.5, seconds: 5), Jump(seconds: 15)])
  }

  /// The base class reads a file that it has no index of from its start, and plays the part backwards, a group
  /// at a time.
  @Test(arguments: StreamCodec.allCases, chains) func seeksWhilePlayingBackwards(_ codec: StreamCodec, _ chain: String)
    throws
  {
    try play(codec, chain, [Jump(rate: -1, seconds: 8), Jump(seconds: 14), Jump(rate: -2, seconds: 12)])
  }
}
