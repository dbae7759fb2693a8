// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Values to choose from, in caps and structures.
@Suite struct RangeTests {
  init() { Harness.initialise() }

  private static let values: [(FieldValue, String)] = [
    (.intRange(16...4096), "(int)[ 16, 4096 ]"),
    (.intRange(7...7), "(int)7"),
    (.doubleRange(0.5...2), "(double)[ 0.5, 2 ]"),
    (.fractionRange(from: Fraction(1, 1), to: Fraction(60, 1)), "(fraction)[ 1/1, 60/1 ]"),
    (.list([1, 2]), "(int){ (int)1, (int)2 }"),
    (.array(["a", "b"]), "(string)< a, b >"),
    (.list([.intRange(1...3), 9]), "{ [ 1, 3 ], (int)9 }"),
    (.strings(["a", "b"]), "(string){ a, b }"),
  ]

  @Test(arguments: values.indices)
  func writesAndReadsRanges(index: Int) {
    let (value, text) = Self.values[index]
    var structure = Structure("test")
    structure.set("field", value)
    #expect(structure.view.value("field") == (value == .intRange(7...7) ? 7 : value))
    // As a line would have it.
    guard let caps = Caps(parsing: "test, field=\(text)") else {
      Issue.record("no caps")
      return
    }
    #expect(caps.first.value("field") == structure.view.value("field"))
  }

  @Test func aRangeWithAStepIsText() {
    guard let caps = Caps(parsing: "test, field=(int)[ 0, 100, 5 ]") else {
      Issue.record("no caps")
      return
    }
    #expect(caps.first.value("field")?.string?.contains("5") == true)
  }

  @Test func anEmptyRangeIsItsLowerBound() {
    var structure = Structure("test")
    structure.set("field", .fractionRange(from: Fraction(5, 1), to: Fraction(1, 1)))
    #expect(structure.view.value("field") == .fraction(Fraction(5, 1)))
  }
}
