// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

/// A session and its codecs are released with its last reference, however it ended.
struct ObjectLifeTests {
  /// Weak references to a session's parts.
  private struct Weak {
    weak var session: DecompressionSession?
    weak var bridge: PictureBridge?
    var isGone: Bool { session == nil && bridge == nil }
  }

  enum Ending: CaseIterable { case letGo, drained, flushed, invalidated }

  /// The codec is lost: never more than one is open, and none at the end.
  @Test(arguments: ["clip.h264", "clip.h265"].flatMap { [($0, 0), ($0, 1), ($0, 2)] }, Ending.allCases)
  func closesLostCodecs(trial: (clip: String, threading: Int), ending: Ending) throws {
    let stream = try CodedStream(trial.clip)
    let plan = FaultPlan()
    plan.send = { opening, index in opening < 3 && index == 4 + 3 * Int64(opening) ? .external : nil }
    var run = Run()
    var session: DecompressionSession? = try stream.session(
      SessionConfiguration.threadings[trial.threading], plan: plan)
    let parts = Weak(session: session, bridge: session?.bridge)
    for (index, unit) in stream.units.prefix(20).enumerated() {
      try session?.decode(unit, tag: UInt64(index))
      session?.takeResults(into: &run)
      #expect(plan.living == 1, "behind access unit \(index)")
    }
    #expect(plan.openings == 4)
    #expect(!parts.isGone)
    switch ending {
    case .letGo: break
    case .drained: session?.drain()
    case .flushed: session?.flush()
    case .invalidated:
      session?.invalidate()
      #expect(plan.living == 0)
    }
    session = nil
    // Pictures may outlive the session: they hold their memory only.
    #expect(parts.isGone)
    #expect(plan.living == 0)
    #expect(!run.frames.isEmpty)
  }
}
