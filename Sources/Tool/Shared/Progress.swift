// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// A line with position, per cent, time left and speed, where standard error is a terminal.
enum Progress {
  private static let shown = Mutex(false)
  /// Whether the terminal's last line is a progress line.
  static var isShown: Bool { shown.withLock { $0 } }

  /// How far reading has come, from any thread.
  final class Place: Sendable {
    let duration: ClockTime?
    private let reached = Atomic<Int64>(-1)

    init(of duration: ClockTime?) { self.duration = duration }

    /// The latest time that was reached; `nil` before there was any.
    var position: ClockTime? {
      UInt64(exactly: reached.load(ordering: .relaxed)).map { ClockTime(nanoseconds: $0) }
    }

    /// Has come to a time, in nanoseconds. Called on one thread.
    func reach(_ time: Int64) {
      if time > reached.load(ordering: .relaxed) { reached.store(time, ordering: .relaxed) }
    }
  }

  /// Runs `body`, and shows a pipeline's progress meanwhile.
  ///
  /// - Parameter isAtItsTime: whether pictures are shown at their times, so that speed means nothing and what is left
  ///   does not depend on it.
  static func during<Result>(
    of pipeline: Pipeline, isAtItsTime: Bool = false, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await during({ (pipeline.position, pipeline.duration) }, isAtItsTime: isAtItsTime, body)
  }

  /// Runs `body`, and shows how far it has come meanwhile.
  static func during<Result, Reason: Error>(
    _ place: Place, _ body: () async throws(Reason) -> Result
  ) async throws(Reason) -> Result {
    try await during({ (place.position, place.duration) }, isAtItsTime: false, body)
  }

  private static func during<Result, Reason: Error>(
    _ place: @escaping @Sendable () -> (position: ClockTime?, duration: ClockTime?), isAtItsTime: Bool,
    _ body: () async throws(Reason) -> Result
  ) async throws(Reason) -> Result {
    guard Terminal.isInteractive else { return try await body() }
    let task = Task {
      let started = ContinuousClock.now
      while !Task.isCancelled {
        try await Task.sleep(for: .milliseconds(250))
        let (position, duration) = place()
        show(position: position, duration: duration, since: isAtItsTime ? nil : started)
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
    let spent = started.map { $0.duration(to: .now) / .seconds(1) }
    // Terminals begin a new line when the last column is filled.
    let line = Self.line(position, of: duration, spent: spent, fitting: Terminal.width - 1)
    shown.withLock { $0 = true }
    Terminal.put("\r\u{1B}[K\(line)")
  }

  /// The longest line that fits into a number of columns: position, duration, per cent, time left and speed.
  ///
  /// - Parameter spent: seconds since the start; `nil` where speed means nothing.
  static func line(_ position: ClockTime, of duration: ClockTime?, spent: Double?, fitting width: Int) -> String {
    let seconds = Double(position.nanoseconds) / 1e9
    let speed = spent.map { $0 > 0 ? seconds / $0 : 0 } ?? 1
    let speedText = spent == nil ? "" : ", speed \(Text.fixed(speed, 1))"
    let place = Text.time(position)
    var lines = [place + speedText, place]
    if let duration, duration > .zero {
      let all = Double(duration.nanoseconds) / 1e9
      let share = "\(Int(min(seconds / all, 1) * 100)) %"
      let left = speed > 0 ? ", \(Text.clock(max(all - seconds, 0) / speed)) left" : ""
      let whole = "\(place) of \(Text.time(duration)), \(share)\(left)"
      lines = [whole + speedText, whole, "\(place), \(share)\(left)", "\(share)\(left)", share]
    }
    return lines.first { $0.count <= width } ?? String(lines.last?.prefix(max(width, 0)) ?? "")
  }

  private static func clear() {
    let wasShown = shown.withLock { shown in
      defer { shown = false }
      return shown
    }
    if wasShown { Terminal.put("\r\u{1B}[K") }
  }
}
