// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// An element with its debug category, lent to its core for logging.
struct ElementLog {
  private let log: Log
  private let element: Element

  init(_ log: Log, _ element: Element) {
    self.log = log
    self.element = element
  }

  /// Whether messages of this level are logged.
  @inline(__always)
  func isEnabled(_ level: Log.Level) -> Bool { log.isEnabled(level) }

  /// Logs a message. The text is made only when the level is enabled.
  @inline(__always)
  func callAsFunction(
    _ level: Log.Level, _ message: @autoclosure () -> String,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(level, element, message(), file: file, function: function, line: line)
  }
}
