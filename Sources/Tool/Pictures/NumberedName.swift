// SPDX-License-Identifier: MPL-2.0
import Containers
import SystemPackage

/// A pattern for numbered file names: `pictures-%04d.png`. `%%` is a literal `%`, and the folder's name is no pattern.
struct NumberedName {
  private let pattern: FilePath
  private let before: [UInt8]
  private let after: [UInt8]
  private let digits: Int

  /// `nil` without exactly one `%d` or `%0Nd`.
  init?(_ path: FilePath) {
    let percentSign = UInt8(ascii: "%")
    var rest = path.lastComponentBytes[...]
    var parts: [[UInt8]] = [[]]
    var digits: Int?
    while let percent = rest.firstIndex(of: percentSign) {
      parts[parts.count - 1] += rest[..<percent]
      rest = rest[percent...].dropFirst()
      if rest.first == percentSign {
        parts[parts.count - 1].append(percentSign)
        rest = rest.dropFirst()
        continue
      }
      let width = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard digits == nil, width.count < 3, rest.dropFirst(width.count).first == UInt8(ascii: "d") else { return nil }
      digits = Int(String(decoding: width, as: UTF8.self)) ?? 0
      rest = rest.dropFirst(width.count + 1)
      parts.append([])
    }
    guard let digits, parts.count == 2 else { return nil }
    (pattern, before, after, self.digits) = (path, parts[0], parts[1] + rest, digits)
  }

  /// Whether a path has two or more of `%d` and `%0Nd`. It is no pattern, but was probably meant as one.
  static func hasSeveralNumbers(_ path: FilePath) -> Bool {
    let parts = path.lastComponentBytes.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    let numbers = parts.dropFirst().count {
      $0.drop(while: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains).first == UInt8(ascii: "d")
    }
    return numbers > 1 && Self(path) == nil
  }

  func callAsFunction(_ number: Int) -> FilePath {
    let text = "\(number)"
    let zeros = String(repeating: "0", count: max(digits - text.count, 0))
    return pattern.renamed { $0 = before + Array((zeros + text).utf8) + after }
  }
}
