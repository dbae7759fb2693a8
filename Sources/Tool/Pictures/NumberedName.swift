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
    let parts = Parts(path.lastComponentBytes)
    guard parts.areValid, parts.texts.count == 2, let digits = parts.digits.first else { return nil }
    (pattern, before, after, self.digits) = (path, parts.texts[0], parts.texts[1], digits)
  }

  /// Whether a path has two or more of `%d` and `%0Nd`. It is no pattern, but was probably meant as one.
  static func hasSeveralNumbers(_ path: FilePath) -> Bool { Parts(path.lastComponentBytes).digits.count > 1 }

  func callAsFunction(_ number: Int) -> FilePath {
    let text = "\(number)"
    let zeros = String(repeating: "0", count: max(digits - text.count, 0))
    return pattern.renamed { $0 = before + Array((zeros + text).utf8) + after }
  }
}

/// The parts of a name: its numbers, and the text around them.
private struct Parts {
  /// One more than there are numbers.
  private(set) var texts: [[UInt8]] = [[]]
  /// The least digits of each number.
  private(set) var digits: [Int] = []
  /// Whether each `%` begins a number of at most 99 digits, or stands for itself as `%%`.
  private(set) var areValid = true

  init(_ name: [UInt8]) {
    let percentSign = UInt8(ascii: "%")
    var rest = name[...]
    while let percent = rest.firstIndex(of: percentSign) {
      texts[texts.count - 1] += rest[..<percent]
      rest = rest[percent...].dropFirst()
      let width = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      if rest.first == percentSign {
        texts[texts.count - 1].append(percentSign)
        rest = rest.dropFirst()
      } else if rest.dropFirst(width.count).first == UInt8(ascii: "d") {
        if width.count > 2 { areValid = false }
        digits.append(Int(String(decoding: width, as: UTF8.self)) ?? 0)
        texts.append([])
        rest = rest.dropFirst(width.count + 1)
      } else {
        areValid = false
      }
    }
    texts[texts.count - 1] += rest
  }
}
