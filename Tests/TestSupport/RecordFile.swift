// SPDX-License-Identifier: MPL-2.0

import Foundation
public import Testing

/// A table of expected results in the folder `Records` of a test target: a row for each case, its name first.
///
/// `RECORD=1` rewrites the rows; `git diff` shows the changes.
public final class RecordFile: Sendable {
  private let file: URL
  private let rows: [String: String]
  private let writing = NSLock()

  /// - Parameters:
  ///   - name: the name of the file in `Records`.
  ///   - source: the path of a source file in the same folder as `Records`.
  public init(_ name: String, source: String = #filePath) {
    file = URL(fileURLWithPath: source).deletingLastPathComponent().appendingPathComponent("Records/\(name)")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    rows = Dictionary(
      text.split(separator: "\n").map { (String($0.prefix { $0 != "\t" }), String($0)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Expects the row of this name to have these columns.
  public func expect(
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
