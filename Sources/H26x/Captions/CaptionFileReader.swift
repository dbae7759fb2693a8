// SPDX-License-Identifier: MPL-2.0

/// Reads caption files in MCC (MacCaption, versions 1 and 2) and SCC (Scenarist), piece by piece.
package struct CaptionFileReader: Sendable {
  private var macCaption: MacCaptionReader?
  private var scenarist: ScenaristReader?
  /// The line so far, without its end.
  private var line: [UInt8] = []
  /// Lines so far.
  private var count = 0
  /// Whether the last line ended with a carriage return, which a line feed may follow.
  private var endsWithReturn = false

  /// The bytes of the longest line: an ancillary packet has 518 digits, and a line of SCC much fewer than this.
  private static let limit = 1 << 16
  private static let (lineFeed, carriageReturn): (UInt8, UInt8) = (10, 13)

  /// Creates a reader of a whole file.
  package init() {}

  /// Reads the next bytes of the file.
  package mutating func read(_ bytes: [UInt8]) throws(CaptionFileError) {
    var rest = bytes[...]
    if endsWithReturn, rest.first == Self.lineFeed { rest = rest.dropFirst() }
    if !rest.isEmpty { endsWithReturn = false }
    while let end = rest.firstIndex(where: { $0 == Self.lineFeed || $0 == Self.carriageReturn }) {
      line += rest[..<end]
      let isReturn = rest[end] == Self.carriageReturn
      rest = rest[(end + 1)...]
      if isReturn {
        endsWithReturn = rest.isEmpty
        if rest.first == Self.lineFeed { rest = rest.dropFirst() }
      }
      try takeLine()
    }
    line += rest
    guard line.count <= Self.limit else {
      throw CaptionFileError(line: count + 1, "expected a line of at most \(Self.limit) bytes")
    }
  }

  /// Ends the file.
  ///
  /// - Throws: for a file without captions, too.
  package mutating func finish() throws(CaptionFileError) -> CaptionFile {
    if !line.isEmpty { try takeLine() }
    let file = macCaption != nil ? try macCaption?.finished() : scenarist?.finished
    guard let file, !file.track.isEmpty else {
      let isKnown = macCaption != nil || scenarist != nil
      throw CaptionFileError(
        line: 0, isKnown ? "no captions: expected them behind time codes" : "empty: expected MCC or SCC")
    }
    return file
  }

  private mutating func takeLine() throws(CaptionFileError) {
    count += 1
    var text = line[...]
    while let last = text.last, last == 32 || last == 9 { text.removeLast() }
    defer { line.removeAll(keepingCapacity: true) }
    guard text.count <= Self.limit else {
      throw CaptionFileError(line: count, "expected a line of at most \(Self.limit) bytes")
    }
    if macCaption != nil {
      try macCaption?.read(text, line: count)
    } else if scenarist != nil {
      try scenarist?.read(text, line: count)
    } else {
      try begin(text)
    }
  }

  /// Reads the first line with text.
  private mutating func begin(_ text: ArraySlice<UInt8>) throws(CaptionFileError) {
    var text = text
    // A byte order mark of UTF-8.
    if count == 1, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    guard !text.isEmpty else { return }
    if MacCaptionReader.begins(text) {
      macCaption = MacCaptionReader()
    } else if EditText.isEqual(text, "Scenarist_SCC V1.0") {
      scenarist = ScenaristReader()
    } else {
      throw CaptionFileError(
        line: count, "expected \"File Format=MacCaption_MCC V1.0\" or V2.0, or \"Scenarist_SCC V1.0\"")
    }
  }
}
