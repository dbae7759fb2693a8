// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc
import H26x
import Synchronization
import TestSupport
import Testing

@testable import VideoDecoding

/// libavcodec logs to the application's standard error by default: contexts of the session must log nothing.
struct LogTests {
  private static let messages = Mutex<[String]>([])

  /// libavcodec's and libavutil's messages about sizes, scaling lists and repeated slices. Stock's elements, which other
  /// tests of this process use, log other messages.
  private static let topics = ["size", "Size", "scal", "pixels", "packetizing"]

  /// Sets a log callback as FFmpeg's tools do, and keeps it: every message on these topics
  /// from any test of this process from then on is a failure.
  private static let isListening: Bool = {
    typealias Format = UnsafePointer<CChar>
    typealias Callback = @convention(c) (UnsafeRawPointer?, Int32, Format?, UnsafeRawPointer?) -> Void
    typealias SetCallback = @convention(c) (Callback?) -> Void
    guard let library = unsafe dlopen("libavutil.so.\(LIBAVUTIL_VERSION_MAJOR)", RTLD_NOW),
      let symbol = unsafe dlsym(library, "av_log_set_callback")
    else { return false }
    unsafe unsafeBitCast(symbol, to: SetCallback.self)({ _, level, format, _ in
      guard level <= AV_LOG_INFO, let format = unsafe format else { return }
      let text = unsafe String(cString: format)
      // libavformat's, about damaged files of other tests.
      guard !text.hasPrefix("Invalid timestamps") else { return }
      guard LogTests.topics.contains(where: { text.contains($0) }) else { return }
      LogTests.messages.withLock { $0.append(text) }
    })
    return true
  }()

  /// Decodes, and ignores results and errors.
  private func decode(_ units: [[UInt8]], as format: [[UInt8]], threading: Int) throws {
    let session = try makeSession(format, SessionConfiguration.threadings[threading])
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    // No memory is allocated for the refused pictures.
    #expect(
      run.frames.allSatisfy { $0.plane(0).rowCount * $0.plane(0).rowByteCount <= session.configuration.maximumPixels })
  }

  private func rewritingSets(
    _ units: [[UInt8]], _ change: ([UInt8]) throws -> [UInt8]
  ) rethrows -> [[UInt8]] {
    try units.map { unit in
      var result: [UInt8] = []
      var nalUnits = AnnexB.NALUnits(unit.span)
      while let nalUnit = nalUnits.next() { result += [0, 0, 0, 1] + (try change(Array(unit[nalUnit.range]))) }
      return result
    }
  }

  @Test(arguments: SessionConfiguration.threadings.indices) func refusesLargePicturesWithoutLogging(
    _ threading: Int
  ) throws {
    try #require(Self.isListening)
    let units = try mediaAccessUnits("clip.h264")
    // Beyond `maximumPixels`, and beyond what libavcodec can address.
    for macroblocks in [600, 2000] {
      let large = try rewritingSets(units) { nalUnit in
        guard nalUnit[0] & 31 == 7 else { return nalUnit }
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.widthInMacroblocks = macroblocks
        sps.heightInMapUnits = macroblocks
        return sps.nalUnit()
      }
      try decode(Array(units[..<5] + large), as: units, threading: threading)
    }
    #expect(Self.messages.withLock { $0 } == [])
  }

  @Test(arguments: SessionConfiguration.threadings.indices) func refusesDamagedParameterSetsWithoutLogging(
    _ threading: Int
  ) throws {
    try #require(Self.isListening)
    let units = try mediaAccessUnits("clip.h264")
    let scaled = try rewritingSets(units) { nalUnit in
      if nalUnit[0] & 31 == 7 {
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        sps.scalingLists = (0..<8).map { .explicit((0..<($0 < 6 ? 16 : 64)).map { UInt8(16 + $0 * 3) }) }
        return sps.nalUnit()
      }
      return nalUnit
    }
    for seed in UInt64(0)..<60 {
      var generator = SeededGenerator(state: seed)
      let damaged = rewritingSets(scaled) { nalUnit in
        guard 7...8 ~= nalUnit[0] & 31 else { return nalUnit }
        var damaged = nalUnit
        for _ in 0..<3 {
          damaged[Int.random(in: 1..<damaged.count, using: &generator)] ^=
            1 << UInt8.random(in: 0..<8, using: &generator)
        }
        return damaged
      }
      try decode(Array(units[..<3] + damaged[..<12]), as: units, threading: threading)
    }
    #expect(Self.messages.withLock { $0 } == [])
  }

  /// A first slice that a network sent twice does not make two pictures of an access unit.
  @Test(arguments: SessionConfiguration.threadings.indices) func discardsRepeatedFirstSlicesWithoutLogging(
    _ threading: Int
  ) throws {
    try #require(Self.isListening)
    let units = try mediaAccessUnits("clip.h264")
    let repeated = rewritingSets(units) { nalUnit in
      let isStart = nalUnit[0] & 31 == 5 && H264.SliceHeader.startsAtFirstMacroblock(nalUnit.span) == true
      return isStart ? nalUnit + [0, 0, 0, 1] + nalUnit : nalUnit
    }
    let session = try makeSession(units, SessionConfiguration.threadings[threading])
    var run = Run()
    try session.run(repeated, into: &run)
    #expect(run.frames.count == units.count)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
    #expect(Self.messages.withLock { $0 } == [])
  }
}
