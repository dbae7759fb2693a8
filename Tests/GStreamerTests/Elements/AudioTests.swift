// SPDX-License-Identifier: MPL-2.0
import GStreamer
import GStreamerAudio
import HarnessSupport
import Testing

private let caps = "audio/x-raw, format=S16LE, layout=interleaved, rate=[1,192000], channels=[1,2]"

/// The samples of all channels in a buffer.
private func samples(in bytes: [UInt8]) -> [Int16] {
  stride(from: 0, to: bytes.count - 1, by: 2).map {
    Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)
  }
}
private func bytes(of samples: [Int16]) -> [UInt8] {
  samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
}

/// Negates samples, unless it lets them pass.
private final class Negator: AudioFilter {
  struct Settings: Sendable { var passes = false }
  let settings = Locked(Settings())
  static let formats = Locked<[[Int]]>([])

  override class var padTemplates: [PadTemplate] { [.sink(caps), .source(caps)] }
  override class var properties: [Property] {
    Property.settings(
      { (element: Negator) in element.settings }, defaults: Settings(), [.boolean("passes", \.passes, "Passes")])
  }
  override func setFormat(_ info: AudioInfo) -> Bool {
    Self.formats.withLock { $0.append([info.sampleRate, info.channels, info.frameSize]) }
    setPassthrough(settings.snapshot.passes)
    return info.sampleRate != 7
  }
  override func changeSamples(_ buffer: inout Buffer) throws(FlowError) {
    guard info?.format == .s16 else { throw .notNegotiated }
    let negated = bytes(of: samples(in: try buffer.copiedBytes()).map { 0 &- $0 })
    if negated.first == 0xFF { throw .dropped }
    var map = try buffer.mapForWriting()
    var target = map.bytes
    for index in target.indices { target[index] = negated[index] }
  }
}

/// Puts the number of samples in front of them; frames of four.
private final class CountingEncoder: AudioEncoder {
  override class var padTemplates: [PadTemplate] { [.sink(caps), .source("audio/x-counted")] }
  override func setFormat(_ info: AudioInfo) -> Bool {
    setFrameSamples(4...4)
    guard var output = Caps(parsing: "audio/x-counted") else { return false }
    output.set("rate", .int(Int32(info.sampleRate)))
    output.set("channels", .int(Int32(info.channels)))
    return setOutputCaps(output)
  }
  override func handleFrame(_ samples: borrowing Buffer) throws(FlowError) {
    guard let format = inputFormat else { throw .notNegotiated }
    let count = samples.size / format.frameSize
    guard let code = Buffer(copying: ([UInt8(count)] + (try samples.copiedBytes())).span) else { throw .error }
    try finish(code, samples: count)
  }
}

/// Takes that off again.
private final class CountingDecoder: AudioDecoder {
  override class var padTemplates: [PadTemplate] { [.sink("audio/x-counted"), .source(caps)] }
  override func setFormat(_ caps: borrowing Caps) -> Bool {
    guard
      let info = AudioInfo(
        format: .s16, sampleRate: Int(caps.first.int("rate") ?? 0), channels: Int(caps.first.int("channels") ?? 0))
    else { return false }
    return setOutputFormat(info)
  }
  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    let code = try frame.copiedBytes()
    guard let format = outputFormat, let count = code.first, Int(count) * format.frameSize == code.count - 1,
      let samples = Buffer(copying: code.span.extracting(1...))
    else { return try drop() }
    try finish(samples)
  }
}

/// Finds those frames in a stream of bytes, with zeros between them, and records where it was drained.
private final class CountingStreamDecoder: AudioDecoder {
  static let record = Locked<[String]>([])

  override class var padTemplates: [PadTemplate] { [.sink("audio/x-counted"), .source(caps)] }
  override class var parsesInput: Bool { true }
  override func setFormat(_ caps: borrowing Caps) -> Bool {
    guard let info = AudioInfo(format: .s16, sampleRate: 1000, channels: 1) else { return false }
    return setOutputFormat(info)
  }
  override func parse(_ bytes: Span<UInt8>, isContinuous: Bool, isAtEnd: Bool) throws(FlowError) -> ParseStep {
    let size = 1 + 2 * Int(bytes[0])
    if bytes[0] == 0 { return .skip(1) }
    if bytes[0] == 200 { return .frame(size: .max) }
    if bytes[0] == 201 { throw .notSupported }
    guard size <= bytes.count else {
      if isAtEnd { Self.record.withLock { $0.append("\(bytes.count) left") } }
      return .needsMoreData
    }
    Self.record.withLock { $0.append(isContinuous ? "found" : "found behind a gap") }
    return .frame(size: size)
  }
  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    let bytes = try frame.copiedBytes()
    guard let samples = Buffer(copying: bytes.span.extracting(1...)) else { throw .error }
    try finish(samples)
  }
  override func drain() throws(FlowError) { Self.record.withLock { $0.append("drained") } }
}

/// Pushes samples before it has set a format.
private final class HastyDecoder: AudioDecoder {
  static let error = Locked<FlowError?>(nil)
  override class var padTemplates: [PadTemplate] { [.sink("audio/x-counted"), .source(caps)] }
  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    do throws(FlowError) { try finish(frame.share()) } catch {
      Self.error.withLock { $0 = error }
      throw error
    }
  }
}

/// Drops what comes until a frame has two bytes, and sets its format then.
private final class LateDecoder: AudioDecoder {
  override class var padTemplates: [PadTemplate] { [.sink("audio/x-counted"), .source(caps)] }
  override func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {
    guard frame.size == 2 else { return try drop() }
    guard let info = AudioInfo(format: .s16, sampleRate: 1000, channels: 1), setOutputFormat(info) else {
      throw .notNegotiated
    }
    try finish(frame.share())
  }
}

@Suite(.serialized) struct AudioTests {
  init() throws {
    Harness.initialise()
    try Negator.register(as: "testnegator", typeName: "GstTestNegator")
    try CountingEncoder.register(as: "testcountingenc", typeName: "GstTestCountingEncoder")
    try CountingDecoder.register(as: "testcountingdec", typeName: "GstTestCountingDecoder")
    try HastyDecoder.register(as: "testhastydec", typeName: "GstTestHastyDecoder")
  }

  private func format(_ rate: Int, _ channels: Int) -> String {
    "audio/x-raw, format=S16LE, layout=interleaved, rate=\(rate), channels=\(channels)"
      + (channels == 2 ? ", channel-mask=(bitmask)3" : "")
  }

  @Test func aFilterChangesSamplesInPlace() throws {
    Negator.formats.withLock { $0 = [] }
    let harness = try Harness("testnegator")
    harness.setInputCaps(format(48000, 2))
    #expect(harness.push(bytes(of: [2, -3, 32767, 0])) == 0)
    #expect(samples(in: try harness.pullBytes()) == [-2, 3, -32767, 0])
    #expect(harness.push(bytes(of: [1])) == 0)
    #expect(harness.waiting == 0)
    #expect(Negator.formats.snapshot == [[48000, 2, 4]])
  }

  @Test func passthroughChangesNoSamples() throws {
    let harness = try Harness("testnegator passes=true")
    harness.setInputCaps(format(8000, 1))
    #expect(harness.push(bytes(of: [5, 6])) == 0)
    #expect(samples(in: try harness.pullBytes()) == [5, 6])
  }

  @Test func aFormatThatIsRefusedIsNotNegotiated() throws {
    let harness = try Harness("testnegator")
    harness.setInputCaps(format(7, 1))
    #expect(harness.push(bytes(of: [5])) == FlowError.notNegotiated.rawValue)
  }

  /// The base class cuts; the last frame of the stream is short.
  @Test func encoderGetsFramesOfItsSize() throws {
    let harness = try Harness("testcountingenc")
    harness.setInputCaps(format(1000, 1))
    #expect(harness.push(bytes(of: [1, 2, 3]), pts: .zero) == 0)
    #expect(harness.push(bytes(of: [4, 5, 6]), pts: .milliseconds(3)) == 0)
    harness.endOfStream()
    let first = try harness.pull()
    let last = try harness.pull()
    let codes = [try first.copiedBytes(), try last.copiedBytes()]
    #expect(codes == [[4] + bytes(of: [1, 2, 3, 4]), [2] + bytes(of: [5, 6])])
    let times = [first.pts, first.duration, last.pts, last.duration]
    #expect(times == [.zero, .milliseconds(4), .milliseconds(4), .milliseconds(2)])
    #expect(try harness.outputCaps().description == "audio/x-counted, rate=(int)1000, channels=(int)1")
  }

  /// One frame a call, however many have come.
  @Test func encoderOfFixedFramesGetsOneAtATime() throws {
    let harness = try Harness("testcountingenc")
    harness.setInputCaps(format(1000, 1))
    #expect(harness.push(bytes(of: Array(1...14)), pts: .zero) == 0)
    harness.endOfStream()
    let counts = try (0..<4).map { _ in Int(try harness.pullBytes()[0]) }
    #expect(counts == [4, 4, 4, 2])
  }

  @Test func decodesWhatWasEncoded() async throws {
    let source = "audiotestsrc num-buffers=5 samplesperbuffer=99 ! \(format(44100, 2))"
    func all(_ description: String) async throws -> [UInt8] {
      try await HarnessSupport.samples(of: description).flatMap { try $0.copiedBytes() }
    }
    let plain = try await all(source)
    #expect(plain.count == 5 * 99 * 4)
    #expect(try await all("\(source) ! testcountingenc ! testcountingdec") == plain)
  }

  @Test func dropsABrokenFrame() throws {
    let harness = try Harness("testcountingdec")
    harness.setInputCaps("audio/x-counted, rate=1000, channels=1")
    #expect(harness.push([1, 7, 0], pts: .zero) == 0)
    #expect(harness.push([9, 1], pts: .milliseconds(1)) == 0)
    #expect(harness.push([1, 8, 0], pts: .milliseconds(2)) == 0)
    harness.endOfStream()
    let first = try harness.pull()
    let last = try harness.pull()
    let codes = [try first.copiedBytes(), try last.copiedBytes()]
    #expect(codes == [[7, 0], [8, 0]])
    let times = [first.pts, last.pts]
    #expect(times == [.zero, .milliseconds(2)])
  }

  /// Frames begin and end anywhere in the buffers that come.
  @Test func decoderFindsFramesAcrossBuffers() throws {
    CountingStreamDecoder.record.withLock { $0 = [] }
    try CountingStreamDecoder.register(as: "testcountingstreamdec", typeName: "GstTestCountingStreamDecoder")
    let harness = try Harness("testcountingstreamdec")
    harness.setInputCaps("audio/x-counted")
    #expect(harness.push([0, 0, 0, 2, 1], pts: .milliseconds(5)) == 0)
    #expect(harness.waiting == 0)
    #expect(harness.push([0, 2, 0, 1, 3, 0, 0, 0, 1], pts: .milliseconds(9)) == 0)
    #expect(harness.push([4, 0, 3, 9]) == 0)
    harness.endOfStream()
    var (codes, times): ([[UInt8]], [ClockTime?]) = ([], [])
    for _ in 0..<3 {
      let buffer = try harness.pull()
      codes.append(try buffer.copiedBytes())
      times.append(buffer.pts)
    }
    #expect(codes == [[1, 0, 2, 0], [3, 0], [4, 0]])
    // The second begins in the second buffer. The third follows it immediately, in the same buffer.
    #expect(times == [.milliseconds(5), .milliseconds(9), .milliseconds(10)])
    #expect(
      CountingStreamDecoder.record.snapshot == ["found behind a gap", "found", "found", "2 left", "drained"])
  }

  /// What a decoder reports about the bytes is checked.
  @Test func checksFrameSizesThatADecoderReports() throws {
    try CountingStreamDecoder.register(as: "testcountingstreamdec", typeName: "GstTestCountingStreamDecoder")
    let harness = try Harness("testcountingstreamdec")
    harness.setInputCaps("audio/x-counted")
    #expect(harness.push([200, 1, 0, 2, 0], pts: .zero) == 0)
    #expect(try harness.pullBytes() == [1, 0, 2, 0])
    #expect(harness.push([201], pts: .second) == FlowError.notSupported.rawValue)
  }

  @Test func outputWithoutAFormatIsAnError() throws {
    let harness = try Harness("testhastydec")
    harness.setInputCaps("audio/x-counted, rate=1000, channels=1")
    #expect(harness.push([1, 7, 0], pts: .zero) == FlowError.notNegotiated.rawValue)
    #expect(HastyDecoder.error.snapshot == .notNegotiated)
  }

  @Test func framesDroppedBeforeTheFormatDoNotDelayTheRest() throws {
    try LateDecoder.register(as: "testlatedec", typeName: "GstTestLateDecoder")
    let harness = try Harness("testlatedec")
    harness.setInputCaps("audio/x-counted")
    #expect(harness.push([1], pts: .zero) == 0)
    #expect(harness.push([7, 0], pts: .milliseconds(5)) == 0)
    let first = try harness.pull()
    let (code, time) = (try first.copiedBytes(), first.pts)
    #expect(code == [7, 0] && time == .milliseconds(5))
  }

  @Test func formatsAreDescribed() throws {
    let info = try #require(AudioInfo(format: .f32, sampleRate: 44100, channels: 2))
    #expect(info.frameSize == 8 && info.isInterleaved && info.format.name == "F32LE")
    #expect(info.duration(ofFrames: 44100) == .second && info.duration(ofFrames: -1) == nil)
    let read = AudioInfo(info.caps())
    #expect(read?.isEqual(to: info) == true)
    let other = try #require(AudioInfo(format: .s16, sampleRate: 44100, channels: 2))
    #expect(!other.isEqual(to: info))
    #expect(AudioFormat(name: "S16LE") == .s16 && AudioFormat(name: "nonsense") == nil && AudioFormat(name: "") == nil)
  }

  /// GStreamer has a table, and numbers of other programs may be anything.
  @Test(arguments: [0, 1, 35, 1000, UInt32.max, UInt32(Int32.max)]) func unknownFormatNumbersHaveNoDescription(
    number: UInt32
  ) {
    let format = AudioFormat(rawValue: number)
    #expect(format.name == "UNKNOWN")
    #expect(AudioInfo(format: format, sampleRate: 8000, channels: 1) == nil)
  }

  @Test(arguments: [(0, 1), (-1, 1), (Int.max, 1), (8000, 0), (8000, 65), (8000, Int.max)])
  func impossibleRatesAndChannelsHaveNoDescription(rate: Int, channels: Int) {
    #expect(AudioInfo(format: .s16, sampleRate: rate, channels: channels) == nil)
  }
}
