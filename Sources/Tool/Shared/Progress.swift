// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc
import Synchronization

/// A line with position, per cent, time left and speed, where standard error is a terminal.
enum Progress {
  private static let shown = Mutex(false)
  /// Whether the terminal's last line is a progress line.
  static var isShown: Bool { shown.withLock { $0 } }

  /// Runs `body`, and shows a pipeline's progress meanwhile.
  static func during<Result>(
    of pipeline: Pipeline, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    guard Terminal.isInteractive else { return try await body() }
    let task = Task {
      let started = ContinuousClock.now
      while !Task.isCancelled {
        try await Task.sleep(for: .milliseconds(250))
        show(position: pipeline.position, duration: pipeline.duration, since: started)
      }
    }
    defer {
      task.cancel()
      clear()
    }
    return try await body()
  }

  private static func show(position: ClockTime?, duration: ClockTime?, since started: ContinuousClock.Instant) {
    guard let position else { return }
    let spent = started.duration(to: .now) / .seconds(1)
    let seconds = Double(position.nanoseconds) / 1e9
    let speed = spent > 0 ? seconds / spent : 0
    var line = "\r\u{1B}[K\(Text.time(position))"
    if let duration, duration > .zero {
      let all = Double(duration.nanoseconds) / 1e9
      line += " of \(Text.time(duration)), \(Int(min(seconds / all, 1) * 100)) %"
      if speed > 0 { line += ", \(Text.clock(max(all - seconds, 0) / speed)) left" }
    }
    line += ", speed \(Text.fixed(speed, 1))"
    shown.withLock { $0 = true }
    Terminal.put(line)
  }

  private static func clear() {
    let wasShown = shown.withLock { shown in
      defer { shown = false }
      return shown
    }
    if wasShown { Terminal.put("\r\u{1B}[K") }
  }
}
