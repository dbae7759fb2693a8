// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import StreamReport

/// A source in memory; as a pipe, it is read once from its beginning.
struct MemorySource: ByteSource {
  let bytes: [UInt8]
  let isPipe: Bool
  var size: UInt64 { isPipe ? .max : UInt64(bytes.count) }

  mutating func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard offset < UInt64(bytes.count), count > 0 else { return [] }
    let start = Int(offset)
    return [UInt8](bytes[start..<start + min(bytes.count - start, count)])
  }
}

/// The document of any file.
func document(_ bytes: [UInt8], _ options: ReportOptions, isPipe: Bool) -> [UInt8]? {
  guard var reporter = try? StreamReporter(MemorySource(bytes: bytes, isPipe: isPipe), options: options) else {
    return nil
  }
  var lines = JSONLines()
  var isOver = false
  while let item = reporter.next() {
    require(!isOver, "report: an item behind the summary")
    if case .summary = item { isOver = true }
    lines.append(item)
  }
  require(isOver, "report: no summary")
  return lines.bytes
}

// Every line is a JSON object in ASCII without "<", which a script element can contain; a pipe gives the same as a
// file.
fuzz { bytes in
  var input: [UInt8] = []
  for index in 0..<bytes.count { input.append(bytes[index]) }
  var options = ReportOptions()
  options.includesFields = true
  options.byteCount = 16
  options.readsSliceData = true
  guard let text = document(input, options, isPipe: false) else { return }
  require(text.last == 0x0A, "report: the last line has no end")
  for byte in text {
    require(byte != 0x3C && (byte == 0x0A || (0x20...0x7E).contains(byte)), "report: byte \(byte) in the document")
  }
  for line in text.split(separator: 0x0A) {
    var checker = JSONChecker(line)
    require(checker.isObject(), "report: no JSON: \(String(decoding: line, as: UTF8.self))")
  }
  // Except for the size, which a pipe does not have.
  if let piped = document(input, options, isPipe: true) {
    require(
      text.drop { $0 != 0x0A }.elementsEqual(piped.drop { $0 != 0x0A }), "report: a pipe gives another document")
  }
}
