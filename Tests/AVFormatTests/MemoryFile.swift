// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import Foundation

/// A file in memory, for containers that are read and written. Fails on demand.
final class MemoryFile: IOSource, IOSink {
  var length: Int64? { size }
  private(set) var bytes: [UInt8]
  private(set) var position: Int64 = 0
  let isSeekable: Bool
  /// Reading or writing fails from here on.
  var failure: (position: Int64, error: AVError)?

  init(_ bytes: [UInt8] = [], isSeekable: Bool = true) { (self.bytes, self.isSeekable) = (bytes, isSeekable) }

  /// A clip of `Tests/Media`.
  convenience init(clip name: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    try self.init([UInt8](Data(contentsOf: folder.appending(path: "Media/\(name)"))))
  }

  private var place: Int { Int(min(position, Int64(bytes.count))) }

  private func check(_ count: Int) throws(AVError) {
    if let failure, position + Int64(count) > failure.position { throw failure.error }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
    let count = min(buffer.count, bytes.count - place)
    try check(count)
    for index in 0..<count { unsafe buffer[index] = bytes[place + index] }
    position += Int64(count)
    return count
  }

  func write(_ more: UnsafeRawBufferPointer) throws(AVError) {
    try check(more.count)
    if place + more.count > bytes.count {
      bytes += [UInt8](repeating: 0, count: place + more.count - bytes.count)
    }
    for index in 0..<more.count { unsafe bytes[place + index] = more[index] }
    position += Int64(more.count)
  }

  func seek(to position: Int64) throws(AVError) { self.position = position }

  var size: Int64? { Int64(bytes.count) }
}
