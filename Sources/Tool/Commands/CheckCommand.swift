// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import StreamReport

/// `h26x check`: what in a stream is not what the standard demands.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks streams against the standard, their level and their container.",
    discussion: """
      Errors break the standard; warnings are likely to cause trouble; notes are what not every decoder copes with. \
      Exit status 2 when there is an error.

      Examples:
        h26x check clip.mp4
        h26x check --json *.h264
      """)

  @Argument(help: "The files; - is standard input.") var files: [String]
  @Flag(help: "JSON, an object a line: the findings and the summary of each file.") var json = false

  func run() async throws {
    var output = ResultWriter()
    var errors: UInt64 = 0
    var failures: [Failure] = []
    for name in files {
      do throws(Failure) { errors += try await check(name, &output) } catch { failures.append(error) }
    }
    try output.finish()
    for failure in failures.dropLast() { Terminal.say(failure.message) }
    if let last = failures.last { throw last }
    if errors > 0 { throw Failure("\(Text.count(Int(clamping: errors), "error")) found", .unsoundStream) }
  }

  /// Answers how many errors there are.
  private func check(_ name: String, _ output: inout ResultWriter) async throws(Failure) -> UInt64 {
    var items = try await ReportItems(InputFile(name, looksIntoPipes: true), ReportOptions())
    var lines = JSONLines()
    var errors: UInt64 = 0
    while let item = try await items.next() {
      switch item {
      case .finding(let finding):
        json ? lines.append(item) : output.write(Self.text(finding, name))
      case .summary(let summary):
        errors += summary.count(of: .error)
        json ? lines.append(item) : output.write("\(Terminal.printable(name)): \(Self.text(summary))\n")
      case .stream: if json { lines.append(item) }
      default: break
      }
      if lines.bytes.count > 1 << 16 { output.write(lines.take()) }
    }
    output.write(lines.take())
    return errors
  }

  private static func text(_ finding: Finding, _ name: String) -> String {
    "\(Terminal.printable(name)): access unit \(finding.accessUnit) at \(finding.offset): \(InspectText.line(finding))\n"
      + "    \(finding.rule.remedy)\n"
  }

  private static func text(_ summary: SummaryRecord) -> String {
    let counts = "\(summary.accessUnits) access units, \(InspectText.counts(summary))"
    var unlisted: UInt64 = 0
    for count in summary.findings where count > 50 { unlisted += count - 50 }
    return unlisted > 0 ? "\(counts); \(unlisted) not listed" : counts
  }
}
