// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `docs/elements.md` lists every property, as `gst-inspect-1.0` does.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct ElementPageTests {
  @Test(arguments: [
    ("swifth264parse", "## Parsers"), ("swifth265parse", "## Parsers"), ("swifth264repack", "## Repackagers"),
    ("swifth265repack", "## Repackagers"), ("swifth264dec", "## Decoders"), ("swifth265dec", "## Decoders"),
  ])
  func listsEveryPropertyWithItsDefault(element: String, heading: String) async throws {
    let page = try String(
      contentsOf: PluginUnderTest.packageRoot.appending(path: "docs/elements.md"), encoding: .utf8)
    let rest = try #require(page.components(separatedBy: "\n\(heading)\n").last)
    let section = try #require(rest.components(separatedBy: "\n## ").first)
    let rows = section.matches(of: /(?m)^\| `([a-z-]+)` \|(?: `([^`]*)`)? \| .* \| `([^`]*)` \|$/)
    let documented = Dictionary(rows.map { (String($0.1), String($0.2 ?? "")) }) { first, _ in first }
    let properties = try await Self.properties(of: element)
    #expect(properties.count >= 4)
    for (name, value) in properties {
      #expect(documented[name] == value, "\(element) \(name)")
    }
    for row in rows where row.1 != "stats" { #expect(row.3.hasPrefix("\(row.1)="), "the example of \(row.1)") }
    let ofOneCodec = ["cra-to-bla", "verify-picture-hash"]
    #expect(documented.keys.filter { properties[$0] == nil && !ofOneCodec.contains($0) }.isEmpty)
  }

  /// The properties of an element, with their defaults as `gst-launch-1.0` takes them; an empty string for structures.
  private static func properties(of element: String) async throws -> [String: String] {
    let inspected = try await Command.run(["gst-inspect-1.0", element])
    #expect(inspected.status == 0, "\(inspected)")
    let list = try #require(inspected.output.components(separatedBy: "Element Properties:\n").last)
    var (properties, name) = ([String: String](), "")
    for line in list.split(separator: "\n") {
      if let match = line.firstMatch(of: #/^  ([a-z-]+) *: /#) {
        name = String(match.1)
        if name != "name", name != "parent" { properties[name] = "" }
      } else if properties[name] == "", let match = line.firstMatch(of: /Default: (.*?) *$/) {
        // An enumeration's default comes as a number and a word.
        let words = match.1.split(separator: ", ", maxSplits: 1)
        properties[name] = words.count == 2 ? words[1].filter { $0 != "\"" } : String(match.1)
      }
    }
    return properties
  }
}
