// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Rules: a stream that breaks each") struct RuleTests {
  /// A stream and the rules that it breaks, no other.
  struct Case: Sendable, CustomTestStringConvertible {
    let rules: Set<Rule>
    let bytes: [UInt8]
    var testDescription: String { rules.map { "\($0)" }.sorted().joined(separator: ", ") }

    init(_ rules: Rule..., stream: TestStream) { (self.rules, bytes) = (Set(rules), stream.bytes) }
    init(_ rules: Rule..., bytes: [UInt8]) { (self.rules, self.bytes) = (Set(rules), bytes) }
  }

  @Test("A right stream breaks none")
  func right() throws {
    let stream = TestStream().adding(
      .init(frameNumber: 1, order: 4), .init(type: 1, frameNumber: 2, order: 2, reference: 0),
      .init(frameNumber: 2, order: 6))
    #expect(try findings(stream.bytes).isEmpty)
  }

  @Test("Each rule is found in the stream that breaks it, and nothing else", arguments: cases)
  func breaks(_ example: Case) throws {
    let found = try findings(example.bytes)
    #expect(Set(found.map(\.rule)) == example.rules)
  }

  @Test("The depth of reordering, with what the SPS says and what is there")
  func depthIsSaid() throws {
    let found = try findings(reordered(sent: 1).bytes)
    let finding = try #require(found.first)
    #expect(String(decoding: finding.expected.bytes, as: UTF8.self) == "max_num_reorder_frames 1 at most")
    #expect(finding.clause.description == "E.2.1")
    #expect(finding.accessUnit == 3)
  }

  /// Two frames that precede a third and are shown behind it.
  private func reordered(sent: UInt32) -> TestStream { Self.reordered(sent: sent) }

  private static func reordered(sent: UInt32) -> TestStream {
    TestStream(
      .init(vui: { writer in
        writer.flag(true)
        // No aspect, overscan, signal, chroma, timing, HRD (two), structure.
        writer.u(8, 0)
        writer.flag(true)
        writer.flag(true)
        for value in [0, 0, 10, 10, sent, 2] { writer.ue(value) }
      })
    ).adding(
      .init(frameNumber: 1, order: 8), .init(frameNumber: 2, order: 6),
      .init(type: 1, frameNumber: 3, order: 2, reference: 0))
  }

  /// A VUI with timing, 25 frames a second, and NAL HRD parameters of one buffer.
  private static func hrd(bitRate: UInt32, size: UInt32, isConstant: Bool = false) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(4, 0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 50)
      writer.flag(true)
      writer.flag(true)
      writer.ue(0)
      writer.u(8, 0)
      writer.ue(bitRate - 1)
      writer.ue(size - 1)
      writer.flag(isConstant)
      for _ in 0..<4 { writer.u(5, 23) }
      writer.flag(false)
      writer.flag(false)
      writer.u(2, 0)
    }
  }

  /// Buffering period SEI of a delay in ticks of 90 kHz; the delays have 24 bits.
  private static func period(_ delay: UInt32) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    writer.u(24, delay)
    writer.u(24, 0)
    if !writer.isByteAligned { writer.trailingBits() }
    return seiNALUnit([(type: .bufferingPeriod, payload: writer.bytes)])
  }

  private static func withPeriod(
    bitRate: UInt32, size: UInt32, delay: UInt32, payload: Int, isConstant: Bool = false
  ) -> TestStream {
    var stream = TestStream(.init(vui: hrd(bitRate: bitRate, size: size, isConstant: isConstant)))
    stream.nalUnits.insert(period(delay), at: 2)
    return stream.adding(.init(frameNumber: 1, order: 2, payload: payload))
  }

  static let cases: [Case] = [
    // NAL units.
    Case(.garbage, bytes: [0x12, 0x34] + TestStream().bytes),
    Case(.forbiddenBit, stream: TestStream().adding([0x80 | 12, 0xFF, 0x80])),
    Case(
      .reservedType, stream: TestStream().adding([0x12, 0xFF, 0x80], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.referenceIDC, stream: TestStream().adding([0x6C, 0xFF, 0x80])),
    Case(.emulationPrevention, bytes: TestStream().adding([0x0C, 0xFF, 0, 0, 2, 0xFF, 0x80]).bytes),
    Case(.trailingBits, stream: TestStream().adding([9, 0xF8], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .order,
      stream: TestStream().adding(TestStream.pps(), [9, 0xF0], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.noPicture, stream: TestStream().adding([9, 0xF0])),
    Case(.endOfStream, stream: TestStream().adding([10], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    // Parameter sets.
    Case(
      .unreadableParameterSet,
      stream: TestStream().adding([0x67, 77], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.missingParameterSet, stream: TestStream().adding(.init(frameNumber: 1, order: 2, pps: 7))),
    Case(.reservedValue, stream: TestStream(.init(flags: 1))),
    Case(.unknownLevel, stream: TestStream(.init(level: 77))),
    Case(.unknownProfile, stream: TestStream(.init(profile: 99))),
    Case(.unreadableParameterSet, .missingParameterSet, stream: TestStream(.init(crop: 16))),
    // Slices and pictures.
    Case(.unreadableSlice, stream: TestStream().adding([0x41, 0x00])),
    Case(.sliceOrder, stream: TestStream().adding(.init(frameNumber: 1, order: 2, first: 2))),
    Case(.quantization, stream: TestStream().adding(.init(frameNumber: 1, order: 2, qp: 40))),
    Case(.frameNumberGap, stream: TestStream().adding(.init(type: 2, frameNumber: 3, order: 2))),
    Case(.frameNumberRepeated, stream: TestStream().adding(.init(type: 2, frameNumber: 0, order: 2))),
    Case(.idrPictureID, stream: TestStream().adding(.init(isIDR: true, type: 2), .init(isIDR: true, type: 2))),
    Case(.pictureOrderRepeated, stream: TestStream().adding(.init(frameNumber: 1, order: 0))),
    Case(.missingReference, stream: TestStream().adding(.init(frameNumber: 1, order: 2, names: 5))),
    Case(.missingMarked, stream: TestStream().adding(.init(frameNumber: 1, order: 2, unmarks: 5))),
    Case(
      .startsLate,
      bytes: TestStream().adding(.init(type: 2, frameNumber: 1, order: 2)).nalUnits.enumerated()
        .filter { $0.offset != 2 }.flatMap { [0, 0, 1] + $0.element }),
    Case(
      .unreadableSEI, stream: TestStream().adding([6, 6, 9, 0x80], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    // Levels and profiles.
    Case(.levelFrameSize, stream: TestStream(.init(level: 10, width: 11, height: 10, references: 1))),
    Case(
      .levelRate,
      stream: TestStream(
        .init(
          level: 10, width: 9, height: 11, references: 1,
          vui: { writer in
            writer.flag(true)
            writer.u(4, 0)
            writer.flag(true)
            writer.u(32, 1)
            writer.u(32, 120)
            writer.flag(true)
            writer.u(4, 0)
          }))),
    Case(.levelBuffer, stream: TestStream(.init(level: 10, width: 9, height: 11, references: 6))),
    Case(.levelBitRate, stream: TestStream(.init(level: 10, vui: hrd(bitRate: 20_000, size: 1000)))),
    Case(.levelCodedBuffer, stream: TestStream(.init(level: 10, vui: hrd(bitRate: 100, size: 50_000)))),
    Case(.profileTool, stream: TestStream(.init(profile: 66), isCABAC: true)),
    Case(.profileFormat, .decoderFormat, stream: TestStream(.init(profile: 100, depth: 10))),
    // Buffers.
    Case(.reorderDepth, stream: reordered(sent: 1)),
    Case(.bufferUnderflow, stream: withPeriod(bitRate: 100, size: 1000, delay: 45_000, payload: 1500)),
    Case(.bufferOverflow, stream: withPeriod(bitRate: 1000, size: 200, delay: 4500, payload: 2, isConstant: true)),
    // Decoders.
    Case(.decoderFormat, stream: TestStream(.init(profile: 110, depth: 10))),
    Case(.decoderLevel, stream: TestStream(.init(level: 52))),
  ]
}
