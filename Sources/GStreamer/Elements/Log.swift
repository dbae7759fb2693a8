// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A debug category, as `GST_DEBUG=name:level` selects it. A message is built only when its level is asked for.
@safe public struct Log: @unchecked Sendable {
  private let category: UnsafeMutablePointer<GstDebugCategory>

  /// A category of this name; one made before under the same name is the same.
  public init(_ name: StaticString, _ description: StaticString) {
    unsafe category = _gst_debug_category_new(name.cString, 0, description.cString)
  }

  /// How much a message matters (`GstDebugLevel`).
  public enum Level: UInt32, Sendable {
    /// What stops the element.
    case error = 1
    /// What went wrong and was overcome.
    case warning
    /// What the code is known not to do.
    case fixme
    /// What happens once or seldom, such as a change of format.
    case info
    /// What happens often, but not with each buffer.
    case debug
    /// What happens with each buffer.
    case log
    /// What happens more often still.
    case trace
  }

  /// Whether messages of this level are wanted.
  @inline(__always)
  public func isEnabled(_ level: Level) -> Bool {
    // The threshold is a plain int that GStreamer reads and writes atomically; a stale value costs one message.
    unsafe UInt32(bitPattern: category.pointee.threshold) >= level.rawValue
  }

  /// Logs a message about an element (or none).
  @inline(__always)
  public func callAsFunction(
    _ level: Level, _ element: Element? = nil, _ message: @autoclosure () -> String,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    if isEnabled(level) { write(level, element, message(), file, function, line) }
  }

  @inline(never)
  private func write(
    _ level: Level, _ element: Element?, _ message: String, _ file: StaticString, _ function: StaticString,
    _ line: Int32
  ) {
    let object = unsafe element.map { unsafe UnsafeMutableRawPointer($0.raw).assumingMemoryBound(to: GObject.self) }
    unsafe gst_debug_log_literal(
      category, GstDebugLevel(rawValue: level.rawValue), file.cString, function.cString, line, object, message)
  }
}

extension StaticString {
  /// The NUL-terminated bytes; a single Unicode scalar as a static string has none and gives "".
  var cString: UnsafePointer<CChar> {
    let bytes = unsafe hasPointerRepresentation ? utf8Start : StaticString("").utf8Start
    return unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
  }
}
