// SPDX-License-Identifier: MPL-2.0
import Dispatch
import Foundation
import H26x
import StreamReport
import Synchronization
import TestSupport
import Testing

@Suite("Slice data that several threads read") struct SliceThreadTests {
  /// The sizes of batches, from any thread.
  final class Batches: Sendable {
    private let all = Mutex<[Int]>([])
    /// The number of access units of each batch, without those that were not kept.
    var sizes: [Int] { all.withLock { $0 } }

    func threads(_ count: Int) -> SliceThreads {
      SliceThreads(count: count) { calls, body in
        self.all.withLock { $0.append(calls) }
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: count) { thread in
          while true {
            let call = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard call < calls else { return }
            body(call, thread)
          }
        }
      }
    }
  }

  /// Options that read slice data: for rules, for statistics, for both, and of some access units.
  static let options = [(true, nil), (true, 0...UInt64.max), (false, 0...UInt64.max), (true, 3...9), (false, 3...9)]
    .map { (isDeep, range: ClosedRange<UInt64>?) in
      var options = ReportOptions()
      (options.readsSliceData, options.countedAccessUnits, options.includesFields) = (isDeep, range, range == nil)
      return options
    }

  /// The document of a stream.
  static func document(_ bytes: [UInt8], _ options: ReportOptions, _ threads: SliceThreads? = nil) throws -> String {
    var options = options
    options.sliceThreads = threads
    var lines = JSONLines()
    for item in try report(bytes, options) { lines.append(item) }
    return String(decoding: lines.bytes, as: UTF8.self)
  }

  /// Compares the documents of the caller's thread and of 1, 2 and 8 threads. Returns the batches of 2 threads.
  @discardableResult
  static func compare(
    _ bytes: [UInt8], _ options: [ReportOptions] = options, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [Int] {
    var sizes: [Int] = []
    for options in options {
      let alone = try document(bytes, options)
      for count in [1, 2, 8] {
        let batches = Batches()
        let isSame = try document(bytes, options, batches.threads(count)) == alone
        #expect(isSame, comment, sourceLocation: sourceLocation)
        if count == 2 { sizes = batches.sizes }
      }
    }
    return sizes
  }

  static func deep() -> ReportOptions {
    var options = ReportOptions()
    options.readsSliceData = true
    return options
  }

  static func byteStream(_ nalUnits: [[UInt8]]) -> [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] } }

  @Test("The document is the same, damaged or not", arguments: SliceDataTests.clips)
  func documentIsTheSame(name: String) throws {
    let whole = try SliceDataTests.bytes(name)
    try Self.compare(whole)
    var random = SeededGenerator(state: 26)
    var damaged = whole
    // Behind the parameter sets.
    for _ in 0..<12 {
      damaged[Int.random(in: 4_000..<damaged.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
    try Self.compare(damaged, Self.options, "damaged")
    // The boxes of MP4 are at the end.
    guard !name.hasSuffix("mp4") else { return }
    try Self.compare(Array(damaged[..<(damaged.count * 2 / 3)]), Self.options, "cut")
  }

  @Test(
    "The document of a vector is the same",
    arguments: VectorReportTests.files.filter { url in
      [
        "CI1_FT_B.264", "MR1_BT_A.h264", "HCAMFF1_HHI.264", "androidx_sample_with_invalid_nalu.mp4", "g2b_tiles.h265",
        "g2b_wpp_ctu16.h265", "g2b_fuzz_bit_depth_change.h265", "androidx_water_180_mvhevc_5frames.mov",
      ].contains(url.lastPathComponent)
    })
  func documentOfAVectorIsTheSame(_ file: URL) throws { try Self.compare(BytesSource(file: file).bytes) }

  @Test("The document is the same for parameter sets, losses and ends in any order", arguments: 0..<24 as Range<UInt64>)
  func documentOfARandomStreamIsTheSame(seed: UInt64) throws {
    func bytes<Stream: RandomStream>(_: Stream.Type) -> [UInt8] {
      var random = SeededGenerator(state: seed)
      var stream = Stream(&random)
      var nalUnits = stream.parameterSets
      for _ in 0..<150 {
        nalUnits += stream.nextAccessUnit(&random)
        if random.oneIn(8) { nalUnits.append(random.one(of: stream.parameterSets)) }
      }
      return Self.byteStream(nalUnits)
    }
    try Self.compare(seed % 2 == 0 ? bytes(RandomH264Stream.self) : bytes(RandomH265Stream.self))
  }

  /// An IDR picture and P pictures of a few bytes. Some of these are damaged.
  static func tinyPictures(_ count: Int, damagedEvery period: Int = 7) -> TestStream {
    var stream = TestStream.readable()
    for number in 1..<count {
      stream.nalUnits.append(
        TestStream.slice(
          .init(
            frameNumber: UInt32(number % 16), order: UInt32(2 * number % 256),
            data: TestStream.skipped(number % period == 3 ? 3 : number % period == 5 ? 9 : 4))))
    }
    return stream
  }

  @Test("A thousand tiny access units are read in batches, and of each rule the same findings are listed")
  func tinyAccessUnitsAreTheSame() throws {
    let bytes = Self.tinyPictures(1_000).bytes
    let sizes = try Self.compare(bytes, [Self.deep()])
    #expect(sizes == [Int](repeating: 128, count: 7) + [104])
    try Self.compare(bytes)
  }

  @Test("An access unit of several pictures, with data partitions, is the same")
  func dataPartitionsAreTheSame() throws {
    func partition(_ type: UInt8, id: UInt32, _ number: UInt32) -> [UInt8] {
      guard type == 2 else {
        var writer = BitWriter()
        writer.u(8, 0x20 | UInt32(type))
        writer.ue(id)
        writer.trailingBits()
        return writer.bytes
      }
      var bytes = TestStream.slice(
        .init(frameNumber: number, order: 2 * number) { writer in
          writer.ue(id)
          writer.ue(4)
        })
      bytes[0] = bytes[0] & 0xE0 | type
      return bytes
    }
    let stream = TestStream.readable().adding(
      partition(2, id: 0, 1), partition(3, id: 0, 1), partition(4, id: 0, 1),
      // B without A, and C with parameter sets between.
      partition(2, id: 0, 2), partition(3, id: 1, 2), TestStream.pps(initialQS: 1), partition(4, id: 0, 2),
      partition(2, id: 0, 3))
    #expect(try Self.compare(stream.bytes, [Self.deep()]) == [4])
    #expect(try Self.document(stream.bytes, Self.deep()).contains("slice-data"))
    // All in one sample.
    var file = MP4TestFile(TestStream.readable())
    file.samples[0] += stream.nalUnits[3...].flatMap(MP4TestFile.prefixed)
    try Self.compare(file.bytes)
  }

  @Test("An access unit with parameter sets between its slices is read with the sets before each slice")
  func parameterSetsBetweenSlicesAreTheSame() throws {
    func first(_ number: UInt32) -> TestStream.Slice {
      .init(frameNumber: number, order: 2 * number, data: TestStream.skipped(2))
    }
    func second(_ number: UInt32) -> TestStream.Slice {
      .init(frameNumber: number, order: 2 * number, first: 2, data: TestStream.skipped(2))
    }
    let stream = TestStream.readable().adding(first(1), second(1)).adding(
      TestStream.slice(first(2)), TestStream.pps(isCABAC: true), TestStream.slice(second(2)), TestStream.pps(),
      TestStream.slice(first(3)), TestStream.slice(second(3)))
    // A parameter set begins another access unit of a byte stream, but not in a container.
    var file = MP4TestFile(TestStream.readable())
    file.samples += [stream.nalUnits[3...4], stream.nalUnits[5...8], stream.nalUnits[9...10]]
      .map { $0.flatMap(MP4TestFile.prefixed) }
    #expect(try Self.compare(file.bytes, [Self.deep()]) == [3])
    #expect(try Self.document(file.bytes, Self.deep()).contains("slice-data"))
    try Self.compare(stream.bytes)
  }

  @Test("An access unit that is too large to be kept is read on the spot, in its turn")
  func largeAccessUnitsAreTheSame() throws {
    var tiny = Self.tinyPictures(6).nalUnits
    let filler: [UInt8] = [12] + [UInt8](repeating: 0xFF, count: 3 << 20) + [0x80]
    let messages = [[UInt8]](repeating: [6, 5, 16] + [UInt8](repeating: 7, count: 16) + [0x80], count: 1 << 14)
    for content in [[filler, filler], messages] {
      tiny.insert(contentsOf: content, at: 5)
      #expect(try Self.compare(Self.byteStream(tiny), [Self.deep()]).reduce(0, +) == 5)
      tiny.removeSubrange(5..<5 + content.count)
    }
    // 140,000 macroblocks, and a picture of four behind it.
    let large = TestStream(.init(level: 62, width: 400, height: 350)).adding(
      .init(frameNumber: 1, order: 2, data: TestStream.skipped(140_000)))
    let both = large.nalUnits + tiny
    #expect(try Self.compare(Self.byteStream(both), [Self.deep()]).reduce(0, +) == 6)
  }

  @Test("Items wait for at most a batch of access units")
  func itemsWaitForABatch() throws {
    var options = Self.deep()
    options.sliceThreads = Batches().threads(2)
    var reporter = SampleReporter(.h264, in: .mpegTS, configuration: nil, options: options)
    var (fed, received) = (0, 0)
    for nalUnit in Self.tinyPictures(1_000).nalUnits {
      reporter.feed(Self.byteStream([nalUnit]), nil)
      fed += 1
      while let item = reporter.next() { if case .accessUnit = item { received += 1 } }
      #expect(fed - received <= 132)
    }
    reporter.finish()
    while let item = reporter.next() { if case .accessUnit = item { received += 1 } }
    #expect(received == 1_000)
  }
}
