// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@testable import Containers

/// `--help` and `help`.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct HelpTests {
  @Test(arguments: [
    ["--help"], ["-h"], ["help"], ["help", "info"], ["info", "-h"], ["info", "a", "--json", "--help"],
  ])
  func printsHelpOnRequest(arguments: [String]) async throws {
    let folder = try Folder()
    let run = try await Program.run(arguments, in: folder.url)
    #expect(run.status == 0 && run.said.isEmpty && run.text.contains("USAGE: h26x"), "\(run.text)\(run.said)")
  }

  /// All lines of all pages of help, those of usage too.
  @Test(arguments: [
    "info", "decode", "hash", "repack", "cut", "join", "edit", "extract", "snapshot", "compare", "play", "receive",
    "demo",
    "inspect", "check", "report", "",
  ])
  func fitsHelpIntoTheTerminal(_ command: String) async throws {
    let folder = try Folder()
    for arguments in [
      command.isEmpty ? ["--help"] : [command, "--help"], ["help"] + (command.isEmpty ? [] : [command]),
    ] {
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 0 && run.text.contains("USAGE: h26x"), "\(run.said)")
      // Examples are copied as they are.
      let long = run.text.split(separator: "\n").filter { $0.count > 80 && !$0.contains("h26x \(command) ") }
      let usage = run.text.split(separator: "\n").filter { $0.contains("USAGE") && $0.count > 80 }
      #expect(long.isEmpty && usage.isEmpty, "\(long) \(usage)")
    }
  }

  @Test func breaksLinesOutsideOfBrackets() {
    let line = "USAGE: a [--bcd <efg hij>] [--kl] <m> ..."
    #expect(Text.wrapped(line, width: 100, indent: 9) == line)
    #expect(Text.wrapped(line, width: 28, indent: 2) == "USAGE: a [--bcd <efg hij>]\n  [--kl] <m> ...")
    #expect(Text.wrapped(line, width: 5, indent: 1) == "USAGE:\n a\n [--bcd <efg hij>]\n [--kl]\n <m>\n ...")
    #expect(Text.wrapped("", width: 5, indent: 1).isEmpty)
  }
}
