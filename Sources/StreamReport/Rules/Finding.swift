// SPDX-License-Identifier: MPL-2.0
import H26x

/// One place where a stream breaks a rule.
public struct Finding: Sendable {
  /// How serious a rule is.
  public enum Severity: UInt8, Sendable, CaseIterable {
    /// The standard forbids it.
    case error
    /// The standard allows it, or has no rule for it, but it is likely to cause trouble.
    case warning
    /// The standard allows it, but some decoders do not support it.
    case note

    /// Its name in the document: `error`, `warning` or `note`.
    public var name: StaticString {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .note: "note"
      }
    }
  }

  /// A place in slice data.
  public struct SlicePlace: Sendable, Hashable {
    /// The number of the slice in its picture, from 0. In H.265, slice segments count.
    public var slice: Int
    /// The address of the first block that is impossible, is missing or breaks a limit: a macroblock, or a coding tree
    /// block. Nil if it is not known.
    public var block: Int?
    /// The bit in the NAL unit, without emulation prevention bytes; nil for missing blocks.
    public var bit: Int?
  }

  /// The rule that is broken.
  public var rule: Rule
  /// The codec of the stream, whose clauses apply.
  let codec: FormatDescription.Codec
  /// The number of the access unit, from 0.
  public var accessUnit: UInt64
  /// The offset in bytes, in the file or in the demultiplexed stream, of the bytes that break the rule.
  public var offset: UInt64
  /// The contents of the stream.
  public var found: ReportText
  /// The contents that it should have.
  public var expected: ReportText

  /// The place in slice data; nil for other findings.
  public var slicePlace: SlicePlace?
  /// The clause, if it is not the rule's.
  var ownClause: StaticString?

  /// The clause of H.264, H.265 or the container's standard; `-` for a rule without one.
  public var clause: StaticString { ownClause ?? (codec == .h265 ? rule.text.h265 : rule.text.h264) }
}

/// Collects findings. The first findings of each rule are kept, and all are counted.
package struct FindingLog: Sendable {
  /// Findings of each rule that are kept.
  package static let limit: UInt64 = 50

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

  /// Reports a finding in slice data.
  mutating func report(
    _ rule: Rule, at place: Finding.SlicePlace, clause: StaticString?, _ found: @autoclosure () -> ReportText,
    expected: @autoclosure () -> ReportText
  ) {
    let count = findings.count
    report(rule, found(), expected: expected())
    guard findings.count > count else { return }
    findings[count].slicePlace = place
    findings[count].ownClause = clause
  }

  /// The findings since the last call.
  mutating func take() -> [Finding] {
    guard !findings.isEmpty else { return [] }
    let taken = findings
    findings = []
    return taken
  }
}
