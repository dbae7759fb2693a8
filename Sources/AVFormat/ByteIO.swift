// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// Where a container's bytes come from.
package protocol IOSource: AnyObject {
  /// Reads the next bytes. Returns how many; 0 at the end.
  ///
  /// - Throws: `AVError.inputOutput`, or what else reading fails with.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// Where the next bytes are, in bytes from the start.
  var position: Int64 { get }
  /// How many bytes there are now; nil where that is not known.
  var length: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}

/// Where a container's bytes go.
package protocol IOSink: AnyObject {
  /// Writes all bytes at the current place.
  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError)
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// Where the next bytes go, in bytes from the start.
  var position: Int64 { get }
  /// How many bytes there are now; nil where that is not known.
  var size: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}
