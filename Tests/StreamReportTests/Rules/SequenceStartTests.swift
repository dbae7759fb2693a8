// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

@Suite("Rules: what begins a coded video sequence") struct SequenceStartTests {
  private func found(_ rule: Rule, in bytes: [UInt8]) throws -> [String] {
    try findings(bytes).filter { $0.rule == rule }.map { String(decoding: $0.found.bytes, as: UTF8.self) }
  }

  // MARK: Activation of an SPS

  private static let next = TestStream.slice(.init(frameNumber: 1, order: 2))
  private static let nextIDR = TestStream.slice(.init(isIDR: true, type: 2, idrID: 1))

  @Test("Another SPS, by content or id, is found once at the picture that activates it")
  func findsAnotherSPSOnce() throws {
    let changed = TestStream().adding(TestStream.sps(.init(level: 31)), Self.next).adding(
      .init(frameNumber: 2, order: 4))
    #expect(try found(.setActivation, in: changed.bytes) == ["SPS 0 with other contents"])
    let other = TestStream().adding(
      TestStream.sps(.init(id: 1)), TestStream.pps(id: 1, sps: 1),
      TestStream.slice(.init(frameNumber: 1, order: 2, pps: 1)),
      TestStream.slice(.init(frameNumber: 2, order: 4, pps: 1)))
    #expect(try found(.setActivation, in: other.bytes) == ["SPS 1 after SPS 0"])
  }

  @Test("An IDR picture may activate any SPS, and the active one may be repeated")
  func allowsAnySPSAtAnIDRPicture() throws {
    let other = TestStream.sps(.init(level: 31))
    for stream in [
      TestStream().adding(other, Self.nextIDR, Self.next),
      TestStream().adding(TestStream.sps(), Self.next),
      // It is not active, and the IDR picture comes before it is used.
      TestStream().adding(TestStream.sps(.init(id: 1)), Self.next, other, Self.nextIDR),
    ] {
      #expect(try found(.setActivation, in: stream.bytes).isEmpty)
    }
  }

  @Test("A buffering period does not hide that it activates another SPS")
  func findsAnotherSPSOfABufferingPeriod() throws {
    let vui = RuleTests.hrd(bitRate: 1000, size: 1000)
    let stream = TestStream(.init(vui: vui)).adding(
      TestStream.sps(.init(level: 31, vui: vui)), RuleTests.period(45_000), Self.next)
    #expect(try found(.setActivation, in: stream.bytes) == ["SPS 0 with other contents"])
  }

  private static let otherSPS = H265TestStream.sps { $0.profileTierLevel.levelIDC = 120 }

  @Test(
    "In H.265, IDR, BLA and CRA pictures at the start of a sequence may activate another SPS",
    arguments: [H265.NALUnitType.trailingR, .cra, .idrWithoutLeading, .blaWithoutLeading], [false, true])
  func allowsAnotherSPSAtTheStartOfASequence(_ type: H265.NALUnitType, isBehindEnd: Bool) throws {
    var stream = H265TestStream()
    if isBehindEnd { stream = stream.adding(H265TestStream.endOfSequence) }
    let isIRAP = type != .trailingR
    stream = stream.adding(Self.otherSPS).adding(
      .init(type: type, order: 1, kind: isIRAP ? 2 : 1, references: isIRAP ? [] : [1]))
    let isStart = isIRAP && (isBehindEnd || type != .cra)
    #expect(try found(.setActivation, in: stream.bytes) == (isStart ? [] : ["SPS 0 with other contents"]))
  }

  // MARK: Discarded pictures

  @Test("Frames of H.264 that wait are discarded by no_output_of_prior_pics_flag alone", arguments: [false, true])
  func findsDiscardedFrames(discards: Bool) throws {
    let idr = TestStream.Slice(isIDR: true, type: 2, idrID: 1, discardsPriorPictures: discards)
    let stream = TestStream().adding(.init(frameNumber: 1, order: 2), idr)
    let expected = "an IDR picture with no_output_of_prior_pics_flag 1 while 2 pictures wait for output"
    #expect(try found(.discardedOutput, in: stream.bytes) == (discards ? [expected] : []))
    // Without reordering, each frame is output when it is decoded.
    let inOrder = TestStream(.init(vui: RuleTests.restriction(reorder: 0, buffering: 2))).adding(
      .init(frameNumber: 1, order: 2), idr)
    #expect(try found(.discardedOutput, in: inOrder.bytes).isEmpty)
    // Behind the end of the stream, the picture is the first of another.
    let other = TestStream().adding(.init(frameNumber: 1, order: 2)).adding([11]).adding(idr)
    #expect(try found(.discardedOutput, in: other.bytes).isEmpty)
  }

  @Test(
    "In H.265, a CRA picture at the start of a sequence discards, others only with no_output_of_prior_pics_flag",
    arguments: [H265.NALUnitType.cra, .idrWithoutLeading, .blaWithoutLeading], [false, true])
  func findsDiscardedPictures(_ type: H265.NALUnitType, discards: Bool) throws {
    var first = H265TestStream().adding(.init(order: 4, references: [4]))
    let irap = H265TestStream.Slice(type: type, kind: 2, discardsPriorPictures: discards)
    let behindEnd = first.adding(H265TestStream.endOfSequence).adding(irap)
    let name =
      type == .cra ? "a CRA picture after the end of a sequence" : "an IRAP picture with no_output_of_prior_pics_flag 1"
    let expected = ["\(name) while 2 pictures wait for output"]
    #expect(try found(.discardedOutput, in: behindEnd.bytes) == (discards || type == .cra ? expected : []))
    // A CRA picture within a sequence discards nothing.
    let within = first.adding(irap)
    #expect(try found(.discardedOutput, in: within.bytes) == (discards && type != .cra ? expected : []))
    let otherStream = first.adding(H265TestStream.endOfStream).adding(irap)
    #expect(try found(.discardedOutput, in: otherStream.bytes).isEmpty)
    // Without reordering, each picture is output when it is decoded.
    first.nalUnits[1] = H265TestStream.sps {
      $0.buffering = [.init(maximumDecodedPictures: 4, maximumReorderPictures: 0)]
    }
    let inOrder = first.adding(H265TestStream.endOfSequence).adding(irap)
    #expect(try found(.discardedOutput, in: inOrder.bytes).isEmpty)
  }
}
