// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerCheck
import GStreamer
import HarnessSupport
import Testing

/// Sends the last byte of its input, once a second, from the first hour on.
private final class Repeater: Aggregator {
  static let isLate = Locked<[Bool]>([])
  private var last: UInt8 = 0
  private var time = ClockTime.seconds(3600)

  override class var padTemplates: [PadTemplate] {
    [.sink("application/x-test", named: "sink_%u", .request), .source("application/x-test, rate=(int)[ 1, 9 ]")]
  }
  override func start() throws(ElementError) {
    setLatency(minimum: .second, maximum: .second)
    updateSegment(.time(from: time))
  }
  override func nextTime() -> ClockTime? { simpleNextTime }
  /// Chooses 5 where downstream takes it.
  override func fixateSourceCaps(_ caps: consuming Caps) -> Caps {
    guard let wanted = Caps(parsing: "application/x-test, rate=(int)5"), wanted.canIntersect(caps) else {
      return super.fixateSourceCaps(caps)
    }
    return wanted
  }
  override func aggregate(isLate: Bool) throws(FlowError) {
    Self.isLate.withLock { $0.append(isLate) }
    if inputs.allSatisfy(\.hasEnded) { throw .endOfStream }
    for input in inputs {
      if let buffer = input.pop() { last = try buffer.copiedBytes().last ?? last }
    }
    guard var output = Buffer(copying: [last].span) else { throw .error }
    (output.pts, output.duration) = (time, .second)
    time = time + .second
    try finish(output)
  }
}

/// The harness is a live source, with a clock that stands still until the test moves it.
@Suite(.serialized) struct LiveAggregatorTests {
  init() throws {
    Harness.initialise()
    try Repeater.register(as: "testrepeater", typeName: "GstTestRepeater")
    Repeater.isLate.withLock { $0 = [] }
  }

  @Test func outputIsDueAtTheDeadlineWithoutInput() throws {
    let harness = try Harness("testrepeater", sink: "sink_%u")
    harness.setInputCaps("application/x-test")
    /// Moves the clock to where the element waits for.
    func wait() throws -> ClockTime? {
      #expect(unsafe gst_harness_wait_for_clock_id_waits(harness.raw, 1, 60) != 0)
      #expect(unsafe gst_harness_crank_single_clock_wait(harness.raw) != 0)
      let clock = unsafe gst_element_get_clock(harness.element)
      defer { unsafe gst_object_unref(clock) }
      return unsafe ClockTime(raw: UInt64(gst_clock_get_time(clock)))
    }
    func output() throws -> (bytes: [UInt8], time: ClockTime?) {
      let buffer = try harness.pull()
      return (try buffer.copiedBytes(), buffer.pts)
    }
    #expect(try wait() == .second)
    #expect(try output() == ([0], .seconds(3600)))
    // The aggregator does not wait for data that has come.
    #expect(harness.push([7]) == 0)
    #expect(try output() == ([7], .seconds(3601)))
    #expect(try wait() == .seconds(3))
    #expect(try output() == ([7], .seconds(3602)))
    #expect(Repeater.isLate.snapshot == [true, false, true])
    let caps = try harness.outputCaps().description
    #expect(caps == "application/x-test, rate=(int)5")
    var starts: [ClockTime?] = []
    while let event = harness.tryPullEvent() {
      if let segment = event.segment { starts.append(ClockTime(nanoseconds: segment.start)) }
    }
    #expect(starts == [.seconds(3600)])
  }

  @Test func downstreamLimitsTheChoiceOfCaps() throws {
    let harness = try Harness("testrepeater", sink: "sink_%u")
    harness.setOutputCaps("application/x-test, rate=(int)[ 7, 20 ]")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1]) == 0)
    #expect(try harness.pullBytes() == [1])
    let caps = try harness.outputCaps().description
    #expect(caps == "application/x-test, rate=(int)7")
  }
}
