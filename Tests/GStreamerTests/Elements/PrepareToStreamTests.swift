// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Synchronization
import Testing

/// The calls of the elements below, in order; the tests are serialised.
private let calls = Mutex<[String]>([])

private func record(_ call: String) { calls.withLock { $0.append(call) } }

private func takeCalls() -> [String] {
  calls.withLock { calls in
    defer { calls = [] }
    return calls
  }
}

extension Element {
  fileprivate func recordPreparation(_ sink: Pad, _ source: Pad) { record("prepare, \(activity(sink, source))") }
  fileprivate func recordCleanUp(_ sink: Pad, _ source: Pad) { record("clean up, \(activity(sink, source))") }

  private func activity(_ sink: Pad, _ source: Pad) -> String {
    "sink \(sink.isActive ? "active" : "inactive"), source \(source.isActive ? "active" : "inactive")"
  }
}

/// A parser that passes frames through, without timestamps of the base class.
private final class PreparedParse: BaseParse {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
  override func prepareToStream() {
    recordPreparation(sinkPad, sourcePad)
    setInterpolatesPTS(false)
    setInfersTimestamps(false)
    setFrameRate(Fraction(25, 1))
  }
  override func cleanUpAfterStream() { recordCleanUp(sinkPad, sourcePad) }
  override func start() { record("start") }
  override func stop() { record("stop") }
  override func setSinkCaps(_ caps: borrowing Caps) -> Bool { sourcePad.setCaps(caps) }
}

private final class PreparedTransform: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-test"), .source("application/x-test")] }
  override func prepareToStream() { recordPreparation(sinkPad, sourcePad) }
  override func cleanUpAfterStream() { recordCleanUp(sinkPad, sourcePad) }
  override func start() { record("start") }
  override func stop() { record("stop") }
}

private final class PreparedDecoder: VideoDecoder {
  override class var padTemplates: [PadTemplate] { [.sink("video/x-test"), .source("video/x-raw")] }
  override func prepareToStream() { recordPreparation(sinkPad, sourcePad) }
  override func cleanUpAfterStream() { recordCleanUp(sinkPad, sourcePad) }
  override func start() { record("start") }
  override func stop() { record("stop") }
}

@Suite(.serialized) struct PrepareToStreamTests {
  init() throws {
    Harness.initialise()
    try PreparedParse.register(as: "testpreparedparse", typeName: "GstTestPreparedParse")
    try PreparedTransform.register(as: "testpreparedtransform", typeName: "GstTestPreparedTransform")
    try PreparedDecoder.register(as: "testprepareddecoder", typeName: "GstTestPreparedDecoder")
  }

  @Test(arguments: ["testpreparedparse", "testpreparedtransform", "testprepareddecoder"])
  func preparesBeforePadsAreActiveAndBeforeStart(name: String) throws {
    let element = try unsafe #require(gst_element_factory_make(name, nil))
    defer { unsafe gst_object_unref(element) }
    _ = takeCalls()
    unsafe gst_element_set_state(element, GST_STATE_READY)
    #expect(takeCalls() == [])
    for _ in 0..<2 {
      unsafe gst_element_set_state(element, GST_STATE_PLAYING)
      #expect(takeCalls() == ["prepare, sink inactive, source inactive", "start"])
      unsafe gst_element_set_state(element, GST_STATE_PAUSED)
      unsafe gst_element_set_state(element, GST_STATE_PLAYING)
      #expect(takeCalls() == [])
      unsafe gst_element_set_state(element, GST_STATE_READY)
      #expect(takeCalls() == ["stop", "clean up, sink inactive, source inactive"])
    }
    unsafe gst_element_set_state(element, GST_STATE_NULL)
  }

  /// The base class resets these settings when data flow ends.
  @Test func settingsOfTheBaseClassHoldInEveryRun() throws {
    let harness = try Harness("testpreparedparse")
    for run in 0..<3 {
      harness.play()
      harness.setInputCaps("application/x-test")
      #expect(harness.push([1], pts: .zero) == 0)
      #expect(harness.push([2]) == 0)
      #expect(try harness.pull().pts == .zero)
      #expect(try harness.pull().pts == nil, "run \(run)")
      unsafe gst_element_set_state(harness.element, GST_STATE_READY)
    }
  }
}
