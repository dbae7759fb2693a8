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
  ///
  /// - Parameter isAtItsTime: whether pictures are shown at their times, so that speed tells nothing and what is left
  ///   does not depend on it.
  static func during<Result>(
    of pipeline: Pipeline, isAtItsTime: Bool = false, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    guard Terminal.isInteractive else { return try await body() }
    let task = Task {
      let started = ContinuousClock.now
      while !Task.isCancelled {
        try await Task.sleep(for: .milliseconds(250))
        show(position: pipeline.position, duration: pipeline.duration, since: isAtItsTime ? nil : started)
      }
    }
    defer {
      task.cancel()
      clear()
    }
    return try await body()
  }

  private static func show(position: ClockTime?, duration: ClockTime?, since started: ContinuousClock.Instant?) {
    guard let position else { return }
    let seconds = Double(position.nanoseconds) / 1e9
    let spent = started.map { $0.duration(to: .now) / .seconds(1) }
    let speed = spent.map { $0 > 0 ? seconds / $0 : 0 } ?? 1
    var line = "\r\u{1B}[K\(Text.time(position))"
    if let duration, duration > .zero {
      let all = Double(duration.nanoseconds) / 1e9
      line += " of \(Text.time(duration)), \(Int(min(seconds / all, 1) * 100)) %"
      if speed > 0 { line += ", \(Text.clock(max(all - seconds, 0) / speed)) left" }
    }
    if started != nil { line += ", speed \(Text.fixed(speed, 1))" }
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
