// SPDX-License-Identifier: MPL-2.0

/// A pattern for numbered file names: `pictures-%04d.png`. `%%` is a literal `%`, and the folder's name is no pattern.
struct NumberedName {
  private let before: String
  private let after: String
  private let digits: Int

  /// `nil` without exactly one `%d` or `%0Nd`.
  init?(_ name: String) {
    let folder = FileName.folder(of: name)
    var rest = Substring(name.unicodeScalars.dropFirst(folder.unicodeScalars.count))
    var parts = [folder]
    var digits: Int?
    while let percent = rest.firstIndex(of: "%") {
      parts[parts.count - 1] += rest[..<percent]
      rest = rest[percent...].dropFirst()
      if rest.first == "%" {
        parts[parts.count - 1] += "%"
        rest = rest.dropFirst()
        continue
      }
      let width = rest.prefix { $0.isASCII && $0.isNumber }
      guard digits == nil, width.count < 3, rest.dropFirst(width.count).first == "d" else { return nil }
      digits = Int(width) ?? 0
      rest = rest.dropFirst(width.count + 1)
      parts.append("")
    }
    guard let digits, parts.count == 2 else { return nil }
    (before, after, self.digits) = (parts[0], parts[1] + rest, digits)
  }

  func callAsFunction(_ number: Int) -> String {
    let text = "\(number)"
    return before + String(repeating: "0", count: max(digits - text.count, 0)) + text + after
  }
}
