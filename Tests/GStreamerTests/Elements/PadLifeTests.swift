// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Calls a function with each buffer, on the thread that pushes it.
private final class Interrupting: Element {
  static let action = Locked<@Sendable () -> Void>({})

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    let output = addPad(template: "src")
    addPad(template: "sink") { pad in
      pad.onBuffer { (buffer) throws(FlowError) in
        Self.action.snapshot()
        try output?.push(buffer)
      }
    }
  }
}

/// Takes one buffer.
private final class TakesOne: BaseTransform {
  private var count = 0
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override func prepareToStream() { count = 0 }
  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    count += 1
    if count > 1 { throw .endOfStream }
  }
}

@Suite(.serialized) struct PadLifeTests {
  init() throws {
    Harness.initialise()
    try Copier.register(as: "testcopier", typeName: "GstTestCopier")
  }

  /// A weak pointer to a C object, which becomes `nil` when the object is freed.
  @safe private final class Watch: @unchecked Sendable {
    let place = UnsafeMutablePointer<gpointer?>.allocate(capacity: 1)
    init() { unsafe place.initialize(to: nil) }
    deinit { unsafe place.deallocate() }
    func watch(_ object: UnsafeMutableRawPointer) {
      unsafe place.pointee = gpointer(object)
      unsafe g_object_add_weak_pointer(object.assumingMemoryBound(to: GObject.self), place)
    }
    var isAlive: Bool { unsafe place.pointee != nil }
  }

  @Test func aPadReleasedDuringItsPushLivesUntilThePushReturns() async throws {
    try Interrupting.register(as: "testinterrupting", typeName: "GstTestInterrupting")
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=3 ! testcopier name=c  c. ! testinterrupting ! fakesink async=0")
    let copier = try pipeline.element("c")
    let watch = Watch()
    let lives = Locked<[Bool]>([])
    Interrupting.action.withLock {
      $0 = {
        guard let pad = unsafe gst_element_get_static_pad(copier.raw, "src_0") else { return }
        unsafe watch.watch(UnsafeMutableRawPointer(pad))
        unsafe gst_element_release_request_pad(copier.raw, pad)
        unsafe gst_object_unref(pad)
        let isAlive = watch.isAlive
        lives.withLock { $0.append(isAlive) }
      }
    }
    try await pipeline.play()
    // The source's stream ends at the copier, which has no output any more, and never at the sink.
    let input = try #require(copier.pad("sink"))
    while !input.hasEnded { try await Task.sleep(for: .milliseconds(5)) }
    await pipeline.stop()
    Interrupting.action.withLock { $0 = {} }
    #expect(lives.snapshot == [true])
    #expect(!watch.isAlive)
  }

  @Test func aBranchThatEndsDoesNotStopOthers() async throws {
    try TakesOne.register(as: "testtakesone", typeName: "GstTestTakesOne")
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=20 ! testcopier name=c  c. ! testtakesone ! queue ! fakesink async=0 \
      c. ! queue ! appsink name=out sync=false
      """)
    let out = try pipeline.appSink("out")
    #expect(try pipeline.element("c").requestPad("src_%u") != nil)
    try await pipeline.play()
    var count = 0
    for try await _ in out { count += 1 }
    #expect(count == 20)
    await pipeline.stop()
  }

  @Test func theStreamEndsWithTheLastBranch() throws {
    try TakesOne.register(as: "testtakesone", typeName: "GstTestTakesOne")
    let harness = try Harness("testcopier name=c ! testtakesone")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1]) == 0)
    #expect(harness.push([2]) == FlowError.endOfStream.rawValue)
  }
}
