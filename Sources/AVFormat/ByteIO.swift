// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// The source of a container's bytes.
package protocol IOSource: AnyObject {
  /// Reads the next bytes. Returns how many; 0 at the end.
  ///
  /// - Throws: `AVError.inputOutput`, or what else reading fails with.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// The position of the next bytes, in bytes from the start.
  var position: Int64 { get }
  /// The current number of bytes; nil if unknown.
  var length: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}

/// The destination of a container's bytes.
package protocol IOSink: AnyObject {
  /// Writes all bytes at the current place.
  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError)
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// The position of the next bytes, in bytes from the start.
  var position: Int64 { get }
  /// The current number of bytes; nil if unknown.
  var size: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}
