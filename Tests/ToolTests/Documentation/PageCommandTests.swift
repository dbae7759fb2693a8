// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The commands on README and on the pages of `docs/` work as printed.
@Suite(.enabled(if: Program.isBuilt)) struct PageCommandTests {
  @Test(arguments: try Page.all()) func runsTheCommandsOfAPageAsPrinted(page: Page) async throws {
    let folder = try Folder()
    try page.prepare(folder)
    let run = try await Program.shell(Page.strict + page.script, in: folder.url)
    #expect(run.status == 0, "\(page.name): \(run.said)")
    for (number, transcript) in page.transcripts.enumerated() {
      let output = String(decoding: folder.bytes(".output-\(number)") ?? Data(), as: UTF8.self)
      #expect(transcript.matches(output), "\(page.name): \(transcript.command)\nprints:\n\(output)")
    }
  }

  @Test func findsCommandsOnThePages() throws {
    let pages = try Page.all()
    #expect(pages.contains { $0.name == "README.md" && $0.transcripts.count >= 3 })
    #expect(pages.filter { !$0.script.isEmpty }.count >= 8)
  }

  @Test func comparesOutputLineByLine() {
    let transcript = Page.Transcript(command: "", output: ["first", "…", "last"])
    #expect(transcript.matches("first\nlast\n"))
    #expect(transcript.matches("first\nsecond\nthird\nlast\n"))
    #expect(!transcript.matches("first\nlast\nanother\n"))
    #expect(!transcript.matches("second\nlast\n"))
    #expect(!Page.Transcript(command: "", output: []).matches("an error\n"))
  }

  @Test func omitsBlocksThatCannotRun() {
    let page = Page(
      name: "page",
      text: """
        ```sh
        echo one
        reboot # needs courage
        ```
        <!-- not run: needs root -->
        ```sh
        halt
        ```
        ```console
        $ echo two
        two
        ```
        ```c
        // program.c
        ```
        """)
    #expect(page.script == "echo one\n{ echo two\n} > .output-0 2>&1 < /dev/null || true\n")
    #expect(page.transcripts == [Page.Transcript(command: "echo two", output: ["two"])])
    #expect(page.files == [Page.File(name: "program.c", text: "// program.c\n")])
  }
}

/// A page of documentation, as a reader would work through it.
///
/// - `sh`: commands. If one fails, the page fails.
/// - `console`: commands behind `$ `, each followed by its output. A line `…` stands for any lines.
/// - `c`, `python`: a file, whose first line is a comment with its name.
///
/// A block below `<!-- not run: REASON -->` and a command with a comment `# needs SOMETHING` are left out.
struct Page: CustomTestStringConvertible {
  struct File: Equatable {
    let name: String
    let text: String
  }

  /// A command and its output.
  struct Transcript: Equatable {
    let command: String
    var output: [String]

    func matches(_ printed: String) -> Bool {
      let printed = printed.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      return Self.matches(output[...], (printed.last == "" ? printed.dropLast() : printed[...]))
    }

    private static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
      guard let first = expected.first else { return lines.isEmpty }
      if first == "…" {
        return (lines.startIndex...lines.endIndex).contains { matches(expected.dropFirst(), lines[$0...]) }
      }
      return lines.first == first && matches(expected.dropFirst(), lines.dropFirst())
    }
  }

  /// A command that fails ends the script, and is named.
  static let strict = "set -euo pipefail; trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR\n"

  let name: String
  private(set) var script = ""
  private(set) var transcripts: [Transcript] = []
  private(set) var files: [File] = []
  var testDescription: String { name }

  /// README and the pages of `docs/`.
  static func all() throws -> [Page] {
    let names = try FileManager.default.contentsOfDirectory(atPath: Program.root.appending(path: "docs").path)
    return try (["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }).map {
      Page(name: $0, text: try String(contentsOf: Program.root.appending(path: $0), encoding: .utf8))
    }
  }

  init(name: String, text: String) {
    self.name = name
    var (language, block, isLeftOut) = (String?.none, [String](), false)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if let open = language {
        if line.hasPrefix("```") {
          if !isLeftOut { add(block, in: open) }
          (language, block, isLeftOut) = (nil, [], false)
        } else {
          block.append(line)
        }
      } else if line.hasPrefix("```") {
        language = String(line.dropFirst(3))
      } else if !line.isEmpty {
        isLeftOut = line.hasPrefix("<!-- not run: ")
      }
    }
  }

  private mutating func add(_ block: [String], in language: String) {
    switch language {
    case "sh":
      script += block.filter { !$0.contains("# needs ") }.map { $0 + "\n" }.joined()
    case "console":
      var isLeftOut = false
      for line in block {
        if line.hasPrefix("$ ") {
          isLeftOut = line.contains("# needs ")
          guard !isLeftOut else { continue }
          let command = String(line.dropFirst(2))
          script += "{ \(command)\n} > .output-\(transcripts.count) 2>&1 < /dev/null || true\n"
          transcripts.append(Transcript(command: command, output: []))
        } else if !isLeftOut {
          transcripts[transcripts.count - 1].output.append(line)
        }
      }
    case "c", "python":
      guard let name = block.first?.split(separator: " ").last else { return }
      files.append(File(name: String(name), text: block.map { $0 + "\n" }.joined()))
    default: break
    }
  }

  /// Makes a folder look like the repository's, and puts the page's files there.
  func prepare(_ folder: Folder) throws {
    for entry in try FileManager.default.contentsOfDirectory(atPath: Program.root.path) where entry != ".git" {
      try FileManager.default.createSymbolicLink(
        at: folder.url.appending(path: entry), withDestinationURL: Program.root.appending(path: entry))
    }
    for file in files { try folder.write(file.name, Data(file.text.utf8)) }
  }
}
