// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements
@testable import VideoDecoding

/// The counters from which a decoder makes messages.
@Suite struct DecoderHealthTests {
  @Test func requestsARandomAccessPointAgainAfterThirtyPictures() {
    var health = DecoderHealth<H264>()
    let answers = (0..<64).map { _ in health.mayRequestSyncPoint() }
    #expect(answers.indices.filter { answers[$0] } == [0, 31, 62])
    health.pictureDecoded()
    let afterAPicture = (health.mayRequestSyncPoint(), health.mayRequestSyncPoint())
    #expect(afterAPicture == (true, false))
    health.flush()
    let afterAFlush = health.mayRequestSyncPoint()
    #expect(afterAFlush)
  }

  @Test func countsRefusedAndSkippedAccessUnits() {
    var health = DecoderHealth<H264>()
    #expect(health.refused == 0 && health.missingParameterSets == nil)
    let areFirst = (health.accessUnitRefused(), health.accessUnitRefused())
    #expect(areFirst == (true, false))
    health.accessUnitSkipped()
    #expect(health.refused == 3)
    #expect(health.missingParameterSets?.debug.hasPrefix("2 access units ") == true)
    health.pictureDecoded()
    #expect(health.missingParameterSets == nil)
    health.pictureCopied()
    #expect(health.copied == 1)
  }

  /// A flush resets the count of consecutive failures and the error that they led to.
  @Test func aFlushResetsTheFailureCount() {
    var health = DecoderHealth<H264>()
    let fault = PictureFault<H264>(error: DecodeError(.badData), frameNumber: 7, pts: nil)
    func judge(_ times: Int) -> [DecoderHealth<H264>.Judgement] {
      (0..<times).map { _ in health.judge(fault, limit: 2) }
    }
    let before = judge(2)
    health.flush()
    // Only the first error ends the stream.
    let after = judge(4)
    #expect(before == [.log, .log] && after == [.log, .log, .giveUp, .ignore])
    let verdicts = [health.takeVerdict(), health.takeVerdict()].map { $0?.error.debug }
    #expect(verdicts[0]?.contains("3 pictures in a row") == true && verdicts[1] == nil)
    health.flush()
    let last = judge(3)
    health.flush()
    let verdict = health.takeVerdict()
    #expect(last == [.log, .log, .giveUp] && verdict == nil)
    #expect(health.lastFault?.contains("picture 7") == true)
  }

  /// Whichever comes first, the failure of an access unit or the loss of the codec, there is one error.
  @Test(arguments: [false, true]) func aRequiredDeviceThatDoesNotDecodeEndsTheStream(isLossFirst: Bool) {
    var health = DecoderHealth<H264>()
    let error = DecodeError(.hardwareUnavailable)
    let fault = PictureFault<H264>(error: error, frameNumber: 7, pts: nil)
    if isLossFirst {
      #expect(health.codecLost(error) == nil)
      #expect(health.judge(fault, limit: -1) == .ignore)
    } else {
      #expect(health.judge(fault, limit: -1) == .giveUp)
      #expect(health.codecLost(error) == nil)
    }
    let verdicts = [health.takeVerdict(), health.takeVerdict()].map { $0?.error.message }
    #expect(verdicts[0]?.hasPrefix("No device decodes this stream") == true && verdicts[1] == nil)
  }

  @Test func reportsLatencyOnceAndWhenItChanges() throws {
    var latency = ReportedLatency()
    var reported: [UInt64?] = [latency.takeDue()?.nanoseconds]
    for frames in [2, 2, 3] {
      latency.update(frames: frames, rate: Fraction(50, 1))
      reported.append(latency.takeDue()?.nanoseconds)
    }
    #expect(reported == [nil, 40_000_000, nil, 60_000_000])
    // Without a rate, 25 a second.
    for (frames, rate) in [(1, nil), (2, Fraction(0, 1)), (3, Fraction(1, 0)), (-1, nil)] {
      latency.update(frames: frames, rate: rate)
      let due = latency.takeDue()?.nanoseconds
      #expect(due == UInt64(max(0, frames)) * 40_000_000)
    }
  }

  @Test func guessesFieldsAndCorrectsTheGuessOnce() throws {
    let units = try Clip.accessUnits("interlaced.h264")
    let sets = Clip.nalUnits(units[0]).filter { 7...8 ~= $0[0] & 31 }
    var format = try FormatDescription(h264ParameterSets: sets)
    #expect(Interlacing(format, scan: nil) == .mixed)
    #expect(Interlacing(format, scan: .frame) == .mixed)
    #expect(Interlacing(format, scan: .fields(isTopFirst: true)) == .interleaved(isTopFirst: true))
    format.isInterlacedAllowed = false
    #expect(Interlacing(format, scan: .frame) == .progressive)
  }
}
