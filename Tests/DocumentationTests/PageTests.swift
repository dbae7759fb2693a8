// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// README, the pages of `docs/` and the other pages of the repository: short, and linked with one another.
@Suite struct PageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ page: String) throws -> String {
    try String(contentsOf: root.appending(path: page), encoding: .utf8)
  }

  private static func documents() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
      .filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
  }

  private static func links(of text: String) -> [String] {
    text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
  }

  /// The anchor that GitHub gives a heading.
  private static func anchor(of heading: Substring) -> String {
    heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
      .replacingOccurrences(of: " ", with: "-")
  }

  /// The anchors of a page's headings, which are not in blocks of code.
  private static func anchors(of page: String) throws -> Set<String> {
    var isCode = false
    let headings = try text(page).split(separator: "\n").filter {
      if $0.hasPrefix("```") { isCode.toggle() }
      return !isCode && $0.hasPrefix("#")
    }
    return Set(headings.map { anchor(of: $0.drop { $0 == "#" }.dropFirst()) })
  }

  @Test func everyLinkHasATarget() throws {
    let pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "Examples/README.md"]
    var count = 0
    for page in try pages + Self.documents() {
      for link in Self.links(of: try Self.text(page)) where !link.contains("://") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = URL(filePath: page, relativeTo: Self.root).deletingLastPathComponent()
        let file = parts[0].isEmpty ? URL(filePath: page, relativeTo: Self.root) : folder.appending(path: parts[0])
        #expect(FileManager.default.fileExists(atPath: file.path), "\(page) links to \(link)")
        guard parts.count == 2 else { continue }
        let target = String(file.standardizedFileURL.path.dropFirst(Self.root.standardizedFileURL.path.count))
        let anchors = try Self.anchors(of: target.hasPrefix("/") ? String(target.dropFirst()) : target)
        #expect(anchors.contains(String(parts[1])), "\(page) links to \(link)")
      }
    }
    #expect(count > 50)
  }

  @Test func everyTypeOnTheArchitecturePageExists() throws {
    let names = try Self.text("docs/architecture.md").matches(of: /`(?:\w+\.)?([A-Z]\w+)`/).map { String($0.1) }
    #expect(names.count > 80)
    let known = try Self.declaredNames(in: ["Sources", "Tests"])
    #expect(names.filter { !known.contains($0) }.isEmpty)
  }

  /// The names of folders, and of types in Swift files.
  private static func declaredNames(in folders: [String]) throws -> Set<String> {
    let keywords: Set = ["struct", "class", "enum", "protocol", "associatedtype", "typealias"]
    var names: Set<String> = []
    for folder in folders {
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() {
        if file.pathExtension.isEmpty { names.insert(file.lastPathComponent) }
        guard file.pathExtension == "swift" else { continue }
        let words = try [UInt8](Data(contentsOf: file)).split { byte in
          !(48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte || byte == 95)
        }
        for (keyword, name) in zip(words, words.dropFirst()) where 65...90 ~= name[name.startIndex] {
          if keywords.contains(String(decoding: keyword, as: UTF8.self)) {
            names.insert(String(decoding: name, as: UTF8.self))
          }
        }
      }
    }
    return names
  }

  @Test func readmeLinksToEveryPage() throws {
    let links = Set(Self.links(of: try Self.text("README.md")).map { String($0.prefix { $0 != "#" }) })
    let pages = try Self.documents()
    #expect(pages.count >= 11)
    #expect(pages.filter { !links.contains($0) }.isEmpty)
  }

  /// Two screens for README, and a page that is read in one go for each subject.
  @Test func pagesAreShort() throws {
    for page in try ["README.md"] + Self.documents() {
      let lines = try Self.text(page).split(separator: "\n", omittingEmptySubsequences: false).count - 1
      #expect(lines <= 200, "\(page) has \(lines) lines")
    }
    #expect(try Self.text("CONTRIBUTING.md").utf8.count <= 9000)
  }
}
