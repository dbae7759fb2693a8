// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// What `Tests/run.sh` runs is every test of the package.
struct TestSetTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: root.appending(path: name), encoding: .utf8)
  }

  @Test func everyTargetIsInASet() throws {
    let package = try Self.text("Package.swift")
    let targets = package.matches(of: /\.testTarget\(\s*name: "(\w+)Tests"/).map { String($0.1) }
    #expect(targets.count > 5)
    let sets = try Self.text("Tests/run.sh").matches(of: /--filter '\^\(([\w|]+)\)Tests\\\.'/)
      .flatMap { $0.1.split(separator: "|").map(String.init) }
    #expect(sets.count == Set(sets).count, "twice: \(sets)")
    #expect(Set(targets) == Set(sets))
  }
}
