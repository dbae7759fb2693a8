// SPDX-License-Identifier: MPL-2.0
import Foundation

/// One row of a conformance manifest: a tab-separated table whose first line names the columns.
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

  /// The folder named by `CONFORMANCE_VECTORS`, else `../shared/vectors` beside the package.
  static let folder: URL =
    ProcessInfo.processInfo.environment["CONFORMANCE_VECTORS"].map { URL(filePath: $0) }
    ?? PluginUnderTest.packageRoot.deletingLastPathComponent().appending(path: "shared/vectors")

  static let missing = "no conformance vectors at \(folder.path); name their folder in CONFORMANCE_VECTORS"

  /// The rows whose files are there; empty without a manifest.
  static let all: [Vector] = {
    guard let table = try? String(contentsOf: folder.appending(path: "manifest.tsv"), encoding: .utf8) else {
      return []
    }
    var lines = table.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    guard !lines.isEmpty else { return [] }
    let names = lines.removeFirst()
    return lines.compactMap { line in
      let row = Dictionary(zip(names, line)) { first, _ in first }
      guard let codec = ["h264": "h264", "hevc": "h265"][row["codec"] ?? ""], let file = row["file"],
        let sum = row["md5"]
      else { return nil }
      let url = folder.appending(path: String(file))
      guard FileManager.default.fileExists(atPath: url.path) else { return nil }
      return Vector(
        path: url.path, codec: codec, name: url.lastPathComponent, container: String(row["container"] ?? ""),
        category: String(row["category"] ?? ""), checksum: sum == "-" || row["frames"] == "0" ? nil : String(sum))
    }
  }()
}
