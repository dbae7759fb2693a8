// SPDX-License-Identifier: MPL-2.0
import StreamReport

/// The contents of the boxes at the top level of an MP4 file.
struct MP4Layout {
  /// Whether there is a `moof` box.
  private(set) var isFragmented = false
  /// Whether the file ends inside of a box that has samples or their tables.
  private(set) var isCutOff = false

  /// More boxes than a day of fragments has.
  private static let limit = 1 << 20

  /// `nil` for other files, and for pipes.
  init?(of input: InputFile) {
    guard input.kind == .container("MP4"), input.size != nil, let source = try? InputBytes(input) else { return nil }
    var offset: UInt64 = 0
    for _ in 0..<Self.limit where offset < source.size {
      let header = source.read(at: offset, count: 16)
      guard header.count >= 8 else { return }
      func number(_ range: Range<Int>) -> UInt64 { header[range].reduce(0) { $0 << 8 | UInt64($1) } }
      var size = number(0..<4)
      if size == 1, header.count == 16 { size = number(8..<16) }
      let type = header[4..<8]
      if type.elementsEqual("moof".utf8) { isFragmented = true }
      // 0 means up to the end of the file; less than a header means garbage.
      guard size >= 8 else { return }
      if size > source.size - offset {
        // Anything may stand behind the last box.
        isCutOff = ["moov", "moof", "mdat"].contains { type.elementsEqual($0.utf8) }
        return
      }
      offset += size
    }
  }
}
