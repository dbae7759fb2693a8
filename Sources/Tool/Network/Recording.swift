// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import Synchronization

/// A live stream that is received, and how it is ended.
final class Recording: Sendable {
  let pipeline: Pipeline
  /// `nil` if the stream is shown.
  private let route: RepackRoute?
  private let last = Mutex<Counts?>(nil)

  init(_ pipeline: Pipeline, _ route: RepackRoute?) { (self.pipeline, self.route) = (pipeline, route) }

  /// The counts of the elements.
  struct Counts {
    /// Access units that were written or shown.
    var written = 0
    /// Access units that no container takes.
    var untimed = 0
    var losses: Losses
    var damage: Damage
    /// Whether the file is complete.
    var isComplete: Bool

    /// `120 access units received in 400 packets, 2 lost`.
    var remark: String { "\(Text.count(written, "access unit")) received\(losses.remark)" }
  }

  /// The counts now; at the end of the stream, those from before the pipeline was stopped.
  var counts: Counts {
    if let last = last.withLock({ $0 }) { return last }
    let received = (try? pipeline.element("parser").fields("stats"))??["access-units"]?.integer ?? 0
    let untimed = route?.untimed ?? 0
    return Counts(
      written: received - untimed, untimed: untimed,
      losses: Losses(try? pipeline.element("rtpjitterbuffer0").fields("stats")),
      damage: Damage(try? pipeline.element("decoder").fields("stats")), isComplete: route?.hasEnded ?? false)
  }

  /// Ends the stream, completes the file and stops the pipeline.
  ///
  /// This does not wait for the end of stream, which never comes from the RTCP sinks inside rtspsrc and sdpdemux.
  func end() async {
    if route != nil { await complete(for: .seconds(600), detourAfter: .seconds(1)) }
    let counts = counts
    last.withLock { $0 = counts }
    await pipeline.stop()
  }

  /// Sends the end of the stream and waits until the file is complete.
  func complete(for limit: Duration, detourAfter wait: Duration) async {
    guard let route, (try? pipeline.element("depayloader")) != nil else { return }
    let deadline = ContinuousClock.now + limit
    let detour = ContinuousClock.now + wait
    send(from: "depayloader")
    var hasDetoured = false
    while !route.hasEnded, .now < deadline, pipeline.state != .null {
      // An element on the way that has failed lets nothing pass.
      if !hasDetoured, .now > detour {
        hasDetoured = true
        send(from: "packaged")
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Sends the end of the stream from an element, without waiting: later elements may be blocked.
  private func send(from name: String) {
    let pipeline = pipeline
    Task {
      guard let element = try? pipeline.element(name) else { return }
      await pipeline.endStream(at: element)
    }
  }
}

/// Packet counts of an RTP stream, from rtpjitterbuffer's statistics.
struct Losses {
  private var packets = 0
  private var lost = 0
  private var late = 0
  private var duplicates = 0

  init(_ statistics: Fields?) {
    guard let statistics else { return }
    packets = statistics["num-pushed"]?.integer ?? 0
    lost = statistics["num-lost"]?.integer ?? 0
    late = statistics["num-late"]?.integer ?? 0
    duplicates = statistics["num-duplicates"]?.integer ?? 0
  }

  /// Continues a sentence: ` in 100 packets, 2 lost`; empty if no packet was counted.
  var remark: String {
    guard packets > 0 else { return "" }
    let parts = [(lost, "lost"), (late, "too late"), (duplicates, "twice")].filter { $0.0 > 0 }
    return " in \(Text.count(packets, "packet"))" + parts.map { ", \($0.0) \($0.1)" }.joined()
  }
}
