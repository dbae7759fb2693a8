// SPDX-License-Identifier: MPL-2.0
import Glibc
import H26x
import TestSupport
import Testing

/// A conformance vector.
struct Vector: Sendable, CustomTestStringConvertible {
  let file: String
  let codec: FormatDescription.Codec
  let container: String
  let category: String
  let width: Int, height: Int
  let frames: Int
  let pixelFormat: String
  let md5: String
  let stockDecodes: Bool
  let path: String

  var testDescription: String { file }
  var bytes: [UInt8] { readFile(path) ?? [] }

  /// Those of H.264.
  static var all: [Vector] { ofBothCodecs.filter { $0.codec == .h264 } }

  /// Undamaged byte streams of both codecs, those of fields and then small ones first.
  static let undamaged: [Vector] = ofBothCodecs.filter {
    $0.container == "annexb" && $0.frames > 0 && $0.md5.count == 32 && !$0.category.contains("error")
  }.sorted { ($0.isInterlaced ? 0 : 1, $0.samples) < ($1.isInterlaced ? 0 : 1, $1.samples) }

  var isInterlaced: Bool { category.contains("interlaced") || category.contains("mbaff") }
  var samples: Int { width * height * frames }

  static let ofBothCodecs = Vectors.rows.map { row in
    Vector(
      file: row.file, codec: row.codec == "h264" ? .h264 : .h265, container: row.container, category: row.category,
      width: row.width, height: row.height, frames: row.frames, pixelFormat: row.pixelFormat, md5: row.checksum,
      stockDecodes: row.stockDecodes, path: row.path)
  }

  /// Annex B streams that stock libavcodec gets right, at most `samples` luma samples in all.
  static func annexB(samples: Int) -> [Vector] {
    all.filter {
      $0.container == "annexb" && $0.stockDecodes && $0.md5.count == 32 && $0.samples <= samples
    }
  }

  static func named(_ name: String) -> Vector? { all.first { $0.file == "h264/" + name } }
}

/// A file's bytes; nil when it cannot be read.
func readFile(_ path: String) -> [UInt8]? {
  guard let file = unsafe fopen(path, "rb") else { return nil }
  defer { unsafe fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = unsafe fread(&chunk, 1, chunk.count, file)
    if count == 0 { return bytes }
    bytes.append(contentsOf: chunk[..<count])
  }
}
