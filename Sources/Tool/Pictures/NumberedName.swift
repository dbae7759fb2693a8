// SPDX-License-Identifier: MPL-2.0

/// A pattern for numbered file names: `pictures-%04d.png`.
struct NumberedName {
  private let before: String
  private let after: String
  private let digits: Int

  /// `nil` without exactly one `%d` or `%0Nd`.
  init?(_ name: String) {
    guard let percent = name.firstIndex(of: "%") else { return nil }
    let rest = name[name.index(after: percent)...]
    guard let letter = rest.firstIndex(of: "d") else { return nil }
    let width = rest[..<letter]
    guard width.isEmpty || Int(width) != nil, width.count < 3, !rest[letter...].contains("%") else { return nil }
    (before, after) = (String(name[..<percent]), String(rest[rest.index(after: letter)...]))
    digits = Int(width) ?? 0
  }

  func callAsFunction(_ number: Int) -> String {
    let text = "\(number)"
    return before + String(repeating: "0", count: max(digits - text.count, 0)) + text + after
  }
}
