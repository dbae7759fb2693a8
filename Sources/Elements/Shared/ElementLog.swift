// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The debug category of an element with the element that it tells about, lent to its core.
struct ElementLog {
  private let log: Log
  private let element: Element

  init(_ log: Log, _ element: Element) {
    self.log = log
    self.element = element
  }

  /// Whether messages of this level are wanted.
  @inline(__always)
  func isEnabled(_ level: Log.Level) -> Bool { log.isEnabled(level) }

  /// Logs a message. It is made only when its level is asked for.
  @inline(__always)
  func callAsFunction(
    _ level: Log.Level, _ message: @autoclosure () -> String,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    log(level, element, message(), file: file, function: function, line: line)
  }
}
