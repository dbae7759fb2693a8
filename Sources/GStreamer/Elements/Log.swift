// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A debug category, selected by `GST_DEBUG=name:level`. A message is built only when its level is enabled.
@safe public struct Log: @unchecked Sendable {
  private let category: UnsafeMutablePointer<GstDebugCategory>

  /// A category of this name, the existing one if there is one.
  public init(_ name: StaticString, _ description: StaticString) {
    unsafe category = _gst_debug_category_new(name.cString, 0, description.cString)
  }

  /// The level of a message (`GstDebugLevel`).
  public enum Level: UInt32, Sendable {
    /// An error that stops the element.
    case error = 1
    /// A fault that the element recovers from.
    case warning
    /// Something known not to be implemented.
    case fixme
    /// Rare events, such as a change of caps.
    case info
    /// Frequent events, but not for each buffer.
    case debug
    /// Events for each buffer.
    case log
    /// Events more frequent than buffers.
    case trace
  }

  /// Whether messages of this level are enabled.
  @inline(__always)
  public func isEnabled(_ level: Level) -> Bool {
    // GStreamer reads and writes the threshold atomically; a stale value costs one message.
    unsafe UInt32(bitPattern: category.pointee.threshold) >= level.rawValue
  }

  /// Logs a message, with the element that it is about, if any.
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
  /// The NUL-terminated bytes; "" for a string stored as a single Unicode scalar, without bytes.
  var cString: UnsafePointer<CChar> {
    let bytes = unsafe hasPointerRepresentation ? utf8Start : StaticString("").utf8Start
    return unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
  }
}
