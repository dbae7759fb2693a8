// SPDX-License-Identifier: MPL-2.0

/// The ranges in a text file, in one of two formats:
///
/// - CSV: `start,end,name` in each line. An empty start is the beginning, and an empty end is the end of the video. The
///   name is optional. Fields may be in double quotes, in which `""` is a quote. A first line that begins with `start`
///   is a header. LosslessCut writes this format.
/// - EDL, as comskip writes it: `start end action` in each line, with white space between them. Actions 0 (cut) and 3
///   (commercial break) are parts to remove. Actions 1 (mute) and 2 (scene) change nothing.
///
/// The first line that is neither empty nor a comment decides: CSV has a comma. A position is written as
/// ``CutPosition/init(text:)`` reads it. A line that begins with `#` is a comment, unless its first field is the number
/// of a picture. The text is UTF-8, with or without a byte order mark, and lines end in LF, CR LF or CR.
package struct CutList: Sendable, Hashable {
  package let ranges: [CutRange]
  /// Whether the ranges are parts to remove (EDL), not parts to keep (CSV).
  package let isRemoval: Bool

  /// The largest size of a file, in bytes.
  package static let sizeLimit = 1_000_000
  package static let countLimit = 100_000

  /// Reads the contents of a file.
  ///
  /// - Parameter name: the file's name, for messages.
  /// - Throws: a `Failure` with the number of the first line that cannot be read.
  package init(_ contents: [UInt8], name: String) throws(Failure) {
    guard !contents.contains(0) else { throw Failure("\(name): a list of ranges must be UTF-8 text") }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = contents.starts(with: mark) ? contents.dropFirst(mark.count) : contents[...]
    var (ranges, isRemoval, number): ([CutRange], Bool?, Int) = ([], nil, 0)
    for line in Self.lines(of: text) {
      number += 1
      let line = String(decoding: Self.trimmed(line), as: UTF8.self)
      if line.isEmpty || Self.isComment(line) { continue }
      let isFirst = isRemoval == nil
      let isEDL = isRemoval ?? !line.utf8.contains(UInt8(ascii: ","))
      isRemoval = isEDL
      do throws(Failure) {
        if isEDL {
          if let range = try Self.removal(line) { ranges.append(range) }
        } else if let range = try Self.range(line, mayBeHeader: isFirst) {
          ranges.append(range)
        }
      } catch { throw Failure("\(name): line \(number): \(error.message)") }
      guard ranges.count <= Self.countLimit else {
        throw Failure("\(name): line \(number): a list has at most \(Self.countLimit) ranges")
      }
    }
    guard let isRemoval, isRemoval || !ranges.isEmpty else { throw Failure("\(name): no range in it") }
    (self.ranges, self.isRemoval) = (ranges, isRemoval)
  }

  // MARK: Lines

  private static func lines(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var rest = text
    while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
      lines.append(rest[..<end])
      let isPair = rest[end] == 0x0D && rest.dropFirst(end - rest.startIndex + 1).first == 0x0A
      rest = rest[(end + (isPair ? 2 : 1))...]
    }
    return lines + [rest]
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    return line
  }

  private static func trimmed(_ text: Substring.UTF8View) -> String {
    String(decoding: trimmed(Array(text)[...]), as: UTF8.self)
  }

  /// Whether a line begins with `#` that is not a picture's.
  private static func isComment(_ line: String) -> Bool {
    guard line.utf8.first == UInt8(ascii: "#") else { return false }
    let end = line.utf8.firstIndex { $0 == UInt8(ascii: ",") || isSpace($0) } ?? line.endIndex
    return CutPosition(text: line[..<end]) == nil
  }

  private static func unexpected(_ text: String, _ expected: String) -> Failure {
    Failure("\(text.prefix(80)): expected \(expected)")
  }

  private static func position(_ text: String) throws(Failure) -> CutPosition {
    guard let position = CutPosition(text: text) else {
      throw unexpected(text, "a time such as 90, 1:30 or 1:02:03.5, or a picture such as #0")
    }
    return position
  }

  // MARK: CSV

  /// - Returns: `nil` for a header.
  private static func range(_ line: String, mayBeHeader: Bool) throws(Failure) -> CutRange? {
    let fields = try fields(of: line)
    if mayBeHeader, fields[0].lowercased() == "start" { return nil }
    guard fields.count == 2 || fields.count == 3 else { throw unexpected(line, "start,end,name") }
    let start = fields[0].isEmpty ? .beginning : try position(fields[0])
    let end = fields[1].isEmpty ? nil : try position(fields[1])
    let name = fields.count == 3 && !fields[2].isEmpty ? fields[2] : nil
    return try CutRange(start: start, end: end, name: name)
  }

  /// The fields of a line (RFC 4180), at least one.
  private static func fields(of line: String) throws(Failure) -> [String] {
    var fields: [String] = []
    var rest = Substring(line).utf8
    while true {
      rest = rest.drop(while: isSpace)
      if rest.first == UInt8(ascii: "\"") {
        fields.append(try quoted(&rest, line))
      } else {
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        fields.append(trimmed(rest[..<end]))
        rest = rest[end...]
      }
      guard let comma = rest.first else { return fields }
      guard comma == UInt8(ascii: ",") else { throw unexpected(line, "a comma after a field in quotes") }
      rest = rest.dropFirst()
    }
  }

  /// Takes a field in quotes, and the white space behind it, off the rest of a line.
  private static func quoted(_ rest: inout Substring.UTF8View, _ line: String) throws(Failure) -> String {
    var field: [UInt8] = []
    while true {
      rest = rest.dropFirst()
      guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { throw unexpected(line, "a second quote") }
      field += rest[..<end]
      rest = rest[end...].dropFirst()
      guard rest.first == UInt8(ascii: "\"") else { break }
      field.append(UInt8(ascii: "\""))
    }
    rest = rest.drop(while: isSpace)
    return String(decoding: field, as: UTF8.self)
  }

  // MARK: EDL

  /// - Returns: `nil` for an action that removes nothing.
  private static func removal(_ line: String) throws(Failure) -> CutRange? {
    let fields = line.utf8.split(whereSeparator: isSpace).map { String(Substring($0)) }
    guard fields.count == 3, let action = Int(fields[2]), (0...3).contains(action) else {
      throw unexpected(line, "start,end,name, or start, end and an action from 0 to 3")
    }
    let (start, end) = (try position(fields[0]), try position(fields[1]))
    return action == 0 || action == 3 ? try CutRange(start: start, end: end) : nil
  }
}
