// SPDX-License-Identifier: MPL-2.0

/// Something in a stream that is not as it should be, or that is worth knowing.
public struct Finding: Sendable {
  /// How bad it is.
  public enum Severity: UInt8, Sendable, CaseIterable {
    /// Not what the standard demands.
    case error
    /// Allowed, or not the standard's business, and likely to cause trouble.
    case warning
    /// Allowed; not every decoder copes with it.
    case note

    /// Its name.
    public var name: StaticString {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .note: "note"
      }
    }
  }

  /// What was broken.
  public var rule: Rule
  /// Whether clauses are those of H.265.
  public var isH265: Bool
  /// The access unit, counted from 0.
  public var accessUnit: UInt64
  /// Where in the file.
  public var offset: UInt64
  /// What is there.
  public var found: ReportText
  /// What should be there.
  public var expected: ReportText

  /// The clause of the Recommendation, or the other document that it is about.
  public var clause: StaticString { isH265 ? rule.text.h265 : rule.text.h264 }
}

/// Gathers findings. Of one rule so many are listed, all are counted.
struct FindingLog: Sendable {
  /// Findings of one rule that are listed.
  static let limit: UInt64 = 50

  let isH265: Bool
  /// Where the stream is.
  var accessUnit: UInt64 = 0
  var offset: UInt64 = 0
  private(set) var counts = [UInt64](repeating: 0, count: Rule.allCases.count)
  private var findings: [Finding] = []

  init(isH265: Bool) { self.isH265 = isH265 }

  mutating func report(_ rule: Rule, _ found: @autoclosure () -> ReportText, expected: @autoclosure () -> ReportText) {
    counts[rule.rawValue] += 1
    guard counts[rule.rawValue] <= Self.limit else { return }
    findings.append(
      Finding(
        rule: rule, isH265: isH265, accessUnit: accessUnit, offset: offset, found: found(), expected: expected()))
  }

  /// What was found since the last call.
  mutating func take() -> [Finding] {
    guard !findings.isEmpty else { return [] }
    let taken = findings
    findings = []
    return taken
  }
}
