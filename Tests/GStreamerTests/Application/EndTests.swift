// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Synchronization
import Testing

/// A source without data that counts EOS events; at the first it adds another
/// element to its bin, so that iterating over the bin's sources has to resync.
private final class CountingSource: Element {
  static let ends = Mutex<[String: Int]>([:])

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    unsafe UnsafeMutableRawPointer(self.raw).assumingMemoryBound(to: GstObject.self).pointee.flags |=
      GST_ELEMENT_FLAG_SOURCE.rawValue
  }

  private func take(_ event: consuming Event) -> Bool {
    guard case .endOfStream = event.kind else { return false }
    let isFirst = Self.ends.withLock { received in
      received[name, default: 0] += 1
      return received[name] == 1
    }
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    guard isFirst, let other = unsafe gst_element_factory_make("identity", nil),
      let bin = unsafe gst_object_get_parent(object)
    else { return true }
    unsafe gst_bin_add(UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstBin.self), other)
    unsafe gst_element_sync_state_with_parent(other)
    unsafe gst_object_unref(bin)
    return true
  }

  @unsafe override class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstElementClass.self)
    unsafe methods.pointee.send_event = { unsafe VirtualMethod.consume($0, $1, CountingSource.take) }
  }
}

@Suite struct EndTests {
  init() throws {
    Harness.initialise()
    try CountingSource.register(as: "testcountingsource", typeName: "GstTestCountingSource")
  }

  @Test func notifiesEachSourceOnceWhileElementsAreAdded() async throws {
    let pipeline = try Pipeline(
      """
      testcountingsource name=ended-once-1 bin.( testcountingsource name=ended-once-2 )
      testcountingsource name=ended-once-3 videotestsrc ! fakesink
      """)
    try await pipeline.play()
    try await pipeline.finish()
    await pipeline.stop()
    let received = CountingSource.ends.withLock { $0 }
    for number in 1...3 { #expect(received["ended-once-\(number)"] == 1) }
  }

  /// No sink would reach the end.
  @Test func onlyAPlayingPipelineCanBeFinished() async throws {
    let pipeline = try Pipeline("videotestsrc ! fakesink")
    await #expect(throws: PipelineError.self) { try await pipeline.finish() }
    try await pipeline.preroll()
    await #expect(throws: PipelineError.self) { try await pipeline.finish() }
    try await pipeline.play()
    try await pipeline.finish()
    await pipeline.stop()
    await #expect(throws: PipelineError.self) { try await pipeline.finish() }
  }

  /// The source's push waits in the sink until the pipeline, and with it the bin, changes its state.
  @Test func endingABinDoesNotWaitForABlockedPush() async throws {
    let pipeline = try Pipeline("bin.( name=inside videotestsrc ! identity ) ! fakesink sync=false")
    let inside = try pipeline.element("inside")
    try await pipeline.preroll()
    async let ending: Void = pipeline.endStream(at: inside)
    try await pipeline.play()
    await ending
    for try await message in pipeline.messages { if case .endOfStream = message.content { break } }
    await pipeline.stop()
    #expect(pipeline.state == .null)
  }

  @Test func endsALiveBinWhileItStarts() async throws {
    for _ in 0..<10 {
      let pipeline = try Pipeline("bin.( name=inside videotestsrc is-live=true ! identity ) ! fakesink sync=false")
      let inside = try pipeline.element("inside")
      try await pipeline.play()
      await pipeline.endStream(at: inside)
      for try await _ in pipeline.messages {}
      await pipeline.stop()
      #expect(pipeline.state == .null)
    }
  }

  @Test func cancellingTheTaskThatReadsMessagesStopsThePipeline() async throws {
    for _ in 0..<20 {
      let pipeline = try Pipeline("videotestsrc ! fakesink")
      try await pipeline.play()
      let task = Task { for try await _ in pipeline.messages {} }
      await Task.yield()
      task.cancel()
      _ = await task.result
      await pipeline.stop()
      #expect(pipeline.state == .null)
    }
  }
}
