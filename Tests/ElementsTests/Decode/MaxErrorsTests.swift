// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// The property `max-errors` of decoders, which is the base class's.
@Suite(.serialized) struct MaxErrorsTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test func tooManyFailuresInARowAreAnError() throws {
    let harness = try Harness.decoder("swifth264dec max-errors=3 thread-type=none")
    harness.collectMessages()
    #expect(harness.push(units: Array(units[..<5])).allSatisfy { $0 == 0 })
    let flows = harness.push(units: (0..<40).map { _ in Clip.undecodable }, from: 5)
    #expect(flows.contains(FlowError.error.rawValue))
    // Pictures that were decoded before are output before the error, although they were waiting for their turn.
    #expect(try harness.takePictures().count == 5)
    let fault = try #require(harness.takeFault())
    #expect(fault.isError)
    #expect(fault.domain == "gst-stream-error-quark")
    #expect(fault.code == ElementError.StreamCode.decode.rawValue)
    #expect(fault.debug.contains("NAL unit type 1 (") && fault.debug.contains("picture"))
    for field in [
      "reason=(string)badData", "videotoolbox-status=(int)-12909", "averror=(int)-", "frame-number=", "pts=",
    ] {
      #expect(fault.details.contains(field), "\(field) in \(fault.details)")
    }
  }

  @Test(arguments: [1, 3]) func theFailureAfterTheLimitEndsTheStream(limit: Int) throws {
    let harness = try Harness.decoder("swifth264dec max-errors=\(limit) thread-type=none")
    harness.collectMessages()
    harness.push(units: Array(units[..<5]))
    for number in 0..<limit { #expect(harness.push(Clip.undecodable, pts: Clip.time(5 + number)) == 0) }
    #expect(harness.takeFault() == nil)
    #expect(harness.push(Clip.undecodable, pts: Clip.time(5 + limit)) == FlowError.error.rawValue)
    let fault = try #require(harness.takeFault())
    #expect(fault.isError && fault.debug.contains("\(limit + 1) pictures in a row"))
    #expect(harness.takeFault() == nil)
  }

  /// A good picture resets the count of consecutive failures.
  @Test func aGoodPictureResetsTheFailureCount() throws {
    let harness = try Harness.decoder("swifth264dec max-errors=2 thread-type=none low-delay=true")
    for index in 0..<10 {
      let picture = TinyStream.picture(0, identifier: UInt32(index & 1))
      #expect(harness.push(RepackStream.annexB([TinyStream.sps, TinyStream.pps, picture])) == 0)
      #expect(harness.push(Clip.undecodable) == 0)
      #expect(harness.push(Clip.undecodable) == 0)
    }
    #expect(harness.received == 10)
    #expect(harness.statistic("failed") == 20)
  }

  @Test func withoutALimitFailuresDoNotEndTheStream() throws {
    let harness = try Harness.decoder("swifth264dec max-errors=-1 thread-type=none")
    harness.collectMessages()
    harness.push(units: Array(units[..<5]))
    #expect(harness.push(units: (0..<60).map { _ in Clip.undecodable }, from: 5).allSatisfy { $0 == 0 })
    #expect(harness.push(units: units, from: 65).allSatisfy { $0 == 0 })
    harness.endOfStream()
    #expect(try checksum(harness.takePictures().suffix(Clip.frameCount)) == Clip.checksum())
    #expect((harness.statistic("failed") ?? 0) >= 60)
  }
}
