// SPDX-License-Identifier: MPL-2.0
import Foundation
import StreamReport

/// A file in memory, for tests.
struct BytesSource: ByteSource {
  let bytes: [UInt8]
  var size: UInt64 { UInt64(bytes.count) }

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard offset < size else { return [] }
    let start = Int(offset)
    return [UInt8](bytes[start..<min(bytes.count, start + count)])
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(file: URL) throws { bytes = [UInt8](try Data(contentsOf: file)) }
}

/// `Tests/Media` of this project.
let media = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "Media")
