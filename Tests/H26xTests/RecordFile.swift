// SPDX-License-Identifier: MPL-2.0

import Foundation
import Testing

/// A table in `Records`: what was read when it was written, a row a stream or structure, the name first.
///
/// A row that differs is a change to look at. `RECORD=1` writes the rows anew; `git diff` then tells what changed.
final class RecordFile: Sendable {
  /// What is read of whole streams. Their syntax elements are FFmpeg's too (`make test-report` with `ALL_VECTORS=1`).
  static let streams = RecordFile("streams.tsv")
  /// The syntax elements of structures that have everything there is.
  static let structures = RecordFile("structures.tsv")

  private let file: URL
  private let rows: [String: String]
  private let writing = NSLock()

  private init(_ name: String) {
    file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Records/\(name)")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    rows = Dictionary(
      text.split(separator: "\n").map { (String($0.prefix { $0 != "\t" }), String($0)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Expects the row of this name to say this.
  func expect(
    _ name: String, _ columns: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let row = ([name] + columns).joined(separator: "\t")
    if ProcessInfo.processInfo.environment["RECORD"] != nil { return try write(row, name) }
    let recorded = try #require(rows[name], "no record of \(name)", sourceLocation: sourceLocation)
    #expect(row == recorded, sourceLocation: sourceLocation)
  }

  private func write(_ row: String, _ name: String) throws {
    try writing.withLock {
      let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
      let others = text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix(name + "\t") }
      try Data(((others + [row]).sorted().joined(separator: "\n") + "\n").utf8).write(to: file)
    }
  }
}
