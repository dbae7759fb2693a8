// SPDX-License-Identifier: MPL-2.0

/// Numbers of access units in decoding order, from 0.
package struct AccessUnitNumbers: Sendable, Hashable {
  /// Numbers that follow one another, ascending.
  package private(set) var runs: [ClosedRange<Int>] = []

  package init() {}

  /// - Parameter numbers: in any order. Each counts once.
  init(_ numbers: some Sequence<Int>) {
    for number in numbers.sorted() {
      guard let last = runs.last, number <= last.upperBound + 1 else {
        runs.append(number...number)
        continue
      }
      runs[runs.count - 1] = last.lowerBound...max(last.upperBound, number)
    }
  }

  package var count: Int { runs.reduce(0) { $0 + $1.count } }
}
