// SPDX-License-Identifier: MPL-2.0
import StreamReport

extension JSONText {
  /// A member that is null if nothing is known.
  mutating func member(_ name: StaticString, orNull text: String?) {
    key(name)
    if let text { value(string: text) } else { value(literal: "null") }
  }

  /// A member that is null if nothing is known.
  mutating func member(_ name: StaticString, orNull number: Int?) {
    key(name)
    if let number { value(Int64(number)) } else { value(literal: "null") }
  }

  /// A member that is null if nothing is known, or the number is not finite.
  mutating func member(_ name: StaticString, orNull number: Double?) {
    key(name)
    value(literal: number.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null")
  }
}
