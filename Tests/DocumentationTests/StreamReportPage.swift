// SPDX-License-Identifier: MPL-2.0
import StreamReport

// The code of the module's page, checked by ArticleTests.

/// A file that is in memory. One on a disk reads where it is asked to; only that much of it is ever held.
struct FileInMemory: ByteSource {
  let bytes: [UInt8]

  var size: UInt64 { UInt64(bytes.count) }
  func read(at offset: UInt64, count: Int) -> [UInt8] {
    let start = Int(clamping: min(offset, size))
    return Array(bytes[start...].prefix(count))
  }
}

/// The pictures of a file, and what breaks the standard in it.
func errors(in file: FileInMemory) throws(ReportFailure) -> (accessUnits: UInt64, errors: [Finding]) {
  var reporter = try StreamReporter(file)
  var (accessUnits, errors): (UInt64, [Finding]) = (0, [])
  while let item = reporter.next() {
    switch item {
    case .finding(let finding) where finding.rule.severity == .error: errors.append(finding)
    case .summary(let summary): accessUnits = summary.accessUnits
    case .stream, .parameterSet, .accessUnit, .finding: break
    }
  }
  return (accessUnits, errors)
}

/// What `h26x inspect --json` writes: a line for each item.
func document(of file: FileInMemory, fields: Bool) throws(ReportFailure) -> [UInt8] {
  var options = ReportOptions()
  options.includesFields = fields
  var reporter = try StreamReporter(file, options: options)
  var lines = JSONLines()
  while let item = reporter.next() { lines.append(item) }
  return lines.take()
}
