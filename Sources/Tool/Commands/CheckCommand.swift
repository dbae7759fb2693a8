// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import StreamReport
import SystemPackage

/// `h26x check`: lists violations of the standard.
struct CheckCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks streams against the standard, their level and their container.",
    discussion: """
      Errors violate the standard. Warnings are likely to cause trouble. Notes list features that some decoders do \
      not support. The exit status is 2 if there is an error. For each rule, the first three findings in a file are \
      listed, or the first fifty with --all or --json; all are counted. The command reads parameter sets, SEI and \
      slice headers, not the pictures. With --deep it also reads the slices to their last bit, as a decoder does. It \
      then finds damage inside pictures, and names the first impossible block and its bit. Use h26x decode --strict to \
      find pictures that a decoder reports as damaged.

      Examples:
        h26x check clip.mp4
        h26x check --json *.h264
        h26x check --deep recording.ts
      """)

  @Argument(help: "The files; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var files: [FilePath]
  @Flag(help: "List fifty findings of each rule instead of three.") var all = false
  @Flag(help: "Read slices to their last bit, to find damage inside pictures.") var deep = false
  @Flag(help: "Print JSON, one object per line: the stream, the findings and the summary of each file.") var json =
    false
  @OptionGroup var sliceThreads: SliceThreadOptions
  @OptionGroup var progress: ProgressOptions

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

  /// Findings of each rule that are listed without --all.
  private static let shortList = 3

  /// Returns the number of errors.
  private func check(_ path: FilePath, _ output: inout ResultWriter) async throws(Failure) -> UInt64 {
    let input = try InputFile(path)
    var options = ReportOptions()
    options.readsSliceData = deep
    options.sliceThreads = sliceThreads.sliceThreads
    var items = try await ReportItems(input, options)
    var lines = JSONLines()
    let name = path.string
    var errors: UInt64 = 0
    var listed = [Int](repeating: 0, count: Rule.allCases.count)
    // With several files, a line with the name precedes each one's.
    if json, files.count > 1 {
      var line = JSONText()
      line.open()
      line.member("kind", "file")
      line.member("name", orNull: name)
      line.close()
      line.endLine()
      output.write(line.bytes)
    }
    try await Progress.during(items.place, hasLine: !Terminal.showsResults) { () async throws(Failure) in
      while let item = try await items.next() { errors += take(item, name, &listed, &lines, &output) }
    }
    output.write(lines.take())
    return errors
  }

  /// Prints an item.
  ///
  /// - Parameter listed: findings of each rule so far.
  /// - Returns: the number of errors that it announces.
  private func take(
    _ item: ReportItem, _ name: String, _ listed: inout [Int], _ lines: inout JSONLines, _ output: inout ResultWriter
  ) -> UInt64 {
    var errors: UInt64 = 0
    switch item {
    case .finding(let finding):
      listed[finding.rule.rawValue] += 1
      let number = listed[finding.rule.rawValue]
      if json {
        lines.append(item)
      } else if all || number <= Self.shortList {
        output.write(Self.text(finding, name, withRemedy: number == 1))
      }
    case .summary(let summary):
      errors = summary.count(of: .error)
      if json {
        lines.append(item)
      } else {
        output.write(text(summary, name))
      }
    case .stream: if json { lines.append(item) }
    default: break
    }
    if lines.bytes.count > 1 << 16 { output.write(lines.take()) }
    return errors
  }

  private static func text(_ finding: Finding, _ name: String, withRemedy: Bool) -> String {
    "\(Terminal.printable(name)): access unit \(finding.accessUnit) at \(finding.offset): \(InspectText.line(finding))\n"
      + (withRemedy ? "    \(finding.rule.remedy)\n" : "")
  }

  private func text(_ summary: SummaryRecord, _ name: String) -> String {
    let name = Terminal.printable(name)
    let limit = all ? FindingLog.limit : UInt64(Self.shortList)
    var text = ""
    for rule in Rule.allCases where summary.findings.indices.contains(rule.rawValue) {
      let count = summary.findings[rule.rawValue]
      if count > limit { text += "\(name): \(count - limit) more of \(rule.name)\n" }
    }
    if let totals = summary.sliceData { text += "\(name): \(InspectText.line(totals))\n" }
    return text + "\(name): \(Text.count(Int(clamping: summary.accessUnits), "access unit")), "
      + "\(InspectText.counts(summary))\n"
  }
}
