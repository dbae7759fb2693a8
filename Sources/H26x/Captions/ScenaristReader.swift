// SPDX-License-Identifier: MPL-2.0

/// Reads the lines of an SCC file (Scenarist): a time code, and pairs of CTA-608 of one field, one a frame.
struct ScenaristReader: Sendable {
  private var file: CaptionFile?
  /// The first frame behind the pairs so far.
  private var next = 0
  /// The frame of the last time code.
  private var lastTime: (frame: Int, hasSemicolon: Bool)?
  /// Control codes by their field.
  private var codes = (field1: 0, field2: 0)

  /// The captions so far; nil before the first.
  ///
  /// The file does not have the field of its pairs, but their codes have.
  var finished: CaptionFile? {
    var file = file
    file?.setField(codes.field2 > codes.field1 ? .field2 : .field1)
    return file
  }

  /// Reads a line behind the first one.
  mutating func read(_ text: ArraySlice<UInt8>, line: Int) throws(CaptionFileError) {
    guard !text.isEmpty else { return }
    let end = text.firstIndex { $0 == 9 || $0 == 32 } ?? text.endIndex
    let frame = try frame(text[..<end], line)
    // A line that is longer than the time to the next one delays it.
    next = max(next, frame)
    var rest = text[end...].drop { $0 == 9 || $0 == 32 }
    while !rest.isEmpty {
      let word = rest.prefix { $0 != 9 && $0 != 32 }
      guard word.count == 4, let pair = EditText.hexadecimal(word) else {
        let shown = String(decoding: word.prefix(16), as: UTF8.self)
        throw CaptionFileError(line: line, "expected pairs of four hexadecimal digits, not \"\(shown)\"")
      }
      take(pair[0], pair[1], line)
      rest = rest[word.endIndex...].drop { $0 == 9 || $0 == 32 }
    }
  }

  private mutating func frame(_ text: ArraySlice<UInt8>, _ line: Int) throws(CaptionFileError) -> Int {
    let hasSemicolon = text.dropLast(2).last == 59
    let timeCode = CaptionTimeCode(base: 30, dropsFrames: hasSemicolon)
    guard let (frame, _) = timeCode.frame(of: text) else {
      let shown = String(decoding: text.prefix(16), as: UTF8.self)
      throw CaptionFileError(
        line: line,
        "expected a time code HH:MM:SS:FF, or HH:MM:SS;FF without the numbers that drop frame leaves out, "
          + "not \"\(shown)\"")
    }
    if let last = lastTime {
      guard last.hasSemicolon == hasSemicolon else {
        throw CaptionFileError(line: line, "expected \"\(last.hasSemicolon ? ";" : ":")\" in all time codes")
      }
      guard frame >= last.frame else {
        let lastText = timeCode.text(ofFrame: last.frame, hasSemicolon: hasSemicolon)
        throw CaptionFileError(
          line: line,
          "the time code runs backwards: expected \(String(decoding: lastText, as: UTF8.self)) or later")
      }
    }
    lastTime = (frame, hasSemicolon)
    if file == nil { file = CaptionFile(timeCode: timeCode, form: nil) }
    return frame
  }

  private mutating func take(_ first: UInt8, _ second: UInt8, _ line: Int) {
    let pair = CaptionTriplet(.field1, first, second)
    if pair.isCaptionPair { file?.append(CaptionMessage(CaptionData([pair])), ofFrame: next, line: line) }
    next += 1
    // The eighth bit is for parity.
    let (first, second) = (first & 0x7F, second & 0x7F)
    switch first & 0xF7 {
    case 0x14 where 0x20...0x2F ~= second: codes.field1 += 1
    case 0x15 where 0x20...0x2F ~= second: codes.field2 += 1
    default: if 0x01...0x0F ~= first { codes.field2 += 1 }
    }
  }
}
