// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite struct RestartTests {
  init() { Harness.initialise() }

  /// Cancellation stops a pipeline without waiting for it; the next run must not be stopped by that.
  @Test(arguments: [false, true]) func aPipelineThatACancelledTaskStoppedPlaysAgain(isStopped: Bool) async throws {
    let pipeline = try Pipeline("videotestsrc ! video/x-raw,width=16,height=16 ! appsink name=out sync=false")
    let sink = try pipeline.appSink("out")
    for _ in 0..<20 {
      try await pipeline.play()
      var iterator = sink.makeAsyncIterator()
      for _ in 0..<8 { #expect(try await iterator.next() != nil) }
      let reader = Task { for try await _ in sink {} }
      reader.cancel()
      _ = await reader.result
      if isStopped { await pipeline.stop() }
    }
    await pipeline.stop()
  }
}
