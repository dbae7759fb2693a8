// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Testing

/// What would be waited for in vain is an error.
@Suite struct EndingTests {
  /// The error of a call; nil where there is none.
  private func error(of body: () async throws(PipelineError) -> Void) async -> PipelineError? {
    do throws(PipelineError) {
      try await body()
      return nil
    } catch { return error }
  }

  @Test(arguments: ["", "queue ! "])
  func aStepAfterTheLastPictureIsAnError(queue: String) async throws {
    let pipeline = try Pipeline("videotestsrc ! video/x-raw,framerate=10/1 ! \(queue)fakesink sync=true")
    try await pipeline.preroll()
    try await pipeline.seek(to: .zero, until: ClockTime(nanoseconds: 300_000_000))
    try await pipeline.step()
    try await pipeline.step()
    for _ in 0..<2 {
      guard case .endOfStream = await error(of: pipeline.step) else {
        Issue.record("no error, or another one")
        continue
      }
    }
    try await pipeline.seek(to: .zero)
    try await pipeline.step()
    await pipeline.stop()
  }

  @Test func aStepAfterTheEndIsAnError() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! fakesink")
    try await pipeline.play()
    for try await _ in pipeline.messages {}
    try await pipeline.pause()
    guard case .endOfStream = await error(of: pipeline.step) else {
      Issue.record("no error, or another one")
      return
    }
    await pipeline.stop()
  }

  /// The sink that is at its end would never have its next buffer.
  @Test func stepsUntilTheLongerStreamEnds() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=2 ! fakesink sync=true videotestsrc num-buffers=4 ! fakesink sync=true name=longer")
    try await pipeline.preroll()
    for _ in 1...3 { try await pipeline.step() }
    guard case .endOfStream = await error(of: pipeline.step) else {
      Issue.record("no error, or another one")
      return
    }
    await pipeline.stop()
  }

  @Test func doesNotLinkElementsOfAnotherPipeline() throws {
    let (source, sink) = (try PipelineElement("fakesrc"), try PipelineElement("fakesink", name: "elsewhere"))
    let other = Pipeline()
    try other.add(source)
    let pipeline = Pipeline()
    for (first, second) in [(source, sink), (sink, source)] {
      do throws(PipelineError) {
        try pipeline.link(first, second)
        Issue.record("they are linked")
      } catch {
        guard case .notInPipeline(first.name) = error else {
          Issue.record("\(error)")
          continue
        }
      }
    }
    try pipeline.add(sink)
    do throws(PipelineError) {
      try pipeline.add(sink)
      Issue.record("it is added twice")
    } catch { #expect("\(error)" == "“elsewhere” cannot be added: it is in a pipeline, or its name is taken") }
  }

  @Test func runningAnEmptyPipelineIsAnError() async {
    let pipeline = Pipeline()
    for call in [pipeline.run, pipeline.finish] {
      guard case .empty = await error(of: call) else {
        Issue.record("no error, or another one")
        continue
      }
    }
  }
}
