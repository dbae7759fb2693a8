// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport

/// A conformance vector.
struct Vector: Sendable {
  let path: String
  /// "h264" or "h265", as the elements' names have it.
  let codec: String
  let name: String
  let container: String
  let category: String
  /// MD5 or, with 40 digits, SHA-1 of all pictures in output order, planar, cropped, without padding. Nil where no
  /// picture comes out.
  let checksum: String?

  static let missing = "no conformance vectors; name their folder in CONFORMANCE_VECTORS"

  static let all = Vectors.rows.compactMap { row -> Vector? in
    guard let codec = ["h264": "h264", "hevc": "h265"][row.codec] else { return nil }
    return Vector(
      path: row.path, codec: codec, name: URL(filePath: row.file).lastPathComponent, container: row.container,
      category: row.category, checksum: row.checksum == "-" || row.frames == 0 ? nil : row.checksum)
  }
}
