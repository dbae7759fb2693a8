// SPDX-License-Identifier: MPL-2.0
import H26x

/// Collects findings. The first findings of each rule are kept, and all are counted.
struct FindingLog: Sendable {
  /// Findings of each rule that are kept.
  static let limit: UInt64 = 50

  let codec: FormatDescription.Codec
  /// The place of the next finding.
  var accessUnit: UInt64 = 0
  var offset: UInt64 = 0
  private(set) var counts = [UInt64](repeating: 0, count: Rule.allCases.count)
  private var findings: [Finding] = []

  init(_ codec: FormatDescription.Codec) { self.codec = codec }

  mutating func report(_ rule: Rule, _ found: @autoclosure () -> ReportText, expected: @autoclosure () -> ReportText) {
    counts[rule.rawValue] += 1
    guard counts[rule.rawValue] <= Self.limit else { return }
    findings.append(
      Finding(
        rule: rule, codec: codec, accessUnit: accessUnit, offset: offset, found: found(), expected: expected()))
  }

  /// The findings since the last call.
  mutating func take() -> [Finding] {
    guard !findings.isEmpty else { return [] }
    let taken = findings
    findings = []
    return taken
  }
}
