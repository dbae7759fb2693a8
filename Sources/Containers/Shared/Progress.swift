// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// How far a subcommand has come, on standard error: a line on a terminal, or a JSON object a second.
package enum Progress {
  /// How it is shown.
  package enum Style: String, CaseIterable, Sendable {
    /// A line if standard error is a terminal.
    case auto
    /// Not at all.
    case none
    /// A JSON object a second, and one at the end.
    case json
  }

  private struct State {
    var style = Style.auto
    var command = ""
    /// Whether the terminal's last line is a progress line.
    var isShown = false
  }

  private static let state = Mutex(State())
  /// Whether the terminal's last line is a progress line.
  package static var isShown: Bool { state.withLock { $0.isShown } }

  /// Sets the style, and the name of the subcommand that runs.
  package static func configure(_ style: Style, command: String) {
    state.withLock { ($0.style, $0.command) = (style, command) }
  }

  /// Runs `body`, and shows its progress meanwhile.
  ///
  /// - Parameters:
  ///   - isAtItsTime: whether pictures are shown at their times. Speed means nothing then, and does not affect the
  ///     time left.
  ///   - hasLine: whether there is a line on a terminal.
  package static func during<Result, Reason: Error>(
    _ place: ProgressPlace, isAtItsTime: Bool = false, hasLine: Bool = true,
    _ body: () async throws(Reason) -> Result
  ) async throws(Reason) -> Result {
    let (style, command) = state.withLock { ($0.style, $0.command) }
    let isLine = style == .auto && hasLine && Terminal.isInteractive
    guard isLine || style == .json else { return try await body() }
    let started = ContinuousClock.now
    let task = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: isLine ? .milliseconds(250) : .seconds(1))
        let spent = started.duration(to: .now) / .seconds(1)
        if isLine {
          show(place.amount, spent: isAtItsTime ? nil : spent)
        } else {
          put(place.amount, command, spent: spent)
        }
      }
    }
    defer {
      task.cancel()
      if isLine { clear() } else { put(place.amount, command, spent: started.duration(to: .now) / .seconds(1)) }
    }
    return try await body()
  }

  private static func put(_ amount: ProgressAmount?, _ command: String, spent: Double) {
    Terminal.put((amount ?? ProgressAmount(done: 0, total: nil, unit: .seconds)).json(command, spent: spent))
  }

  private static func show(_ amount: ProgressAmount?, spent: Double?) {
    guard let amount else { return }
    // Terminals begin a new line when the last column is filled.
    let line = amount.line(spent: spent, fitting: Terminal.width - 1)
    state.withLock { $0.isShown = true }
    Terminal.put("\r\u{1B}[K\(line)")
  }

  private static func clear() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { Terminal.put("\r\u{1B}[K") }
  }
}
