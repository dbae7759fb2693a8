// SPDX-License-Identifier: MPL-2.0
public import Slices

/// Totals of a stream.
public struct SummaryRecord: Sendable {
  /// Access units.
  public var accessUnits: UInt64 = 0
  /// Pictures whose every slice is I.
  public var intra: UInt64 = 0
  /// Pictures with P slices and without B slices.
  public var predicted: UInt64 = 0
  /// Pictures with B slices.
  public var bidirectional: UInt64 = 0
  /// Random access points.
  public var keyframes: UInt64 = 0
  /// Bytes of access units.
  public var bytes: UInt64 = 0
  /// NAL units by type, 64 types.
  public var nalUnits: [UInt64] = .init(repeating: 0, count: 64)
  /// Bytes of NAL units by type, 64 types.
  public var nalUnitBytes: [UInt64] = .init(repeating: 0, count: 64)
  /// The names of the types.
  public var names: [StaticString] = []
  /// The reorder depth that the stream uses: the most frames that precede one in decoding order and follow it in output
  /// order.
  public var reorder = 0
  /// The number of findings of each rule, by `Rule.rawValue`, including those that are not listed.
  public var findings: [UInt64] = .init(repeating: 0, count: Rule.allCases.count)

  /// The slice data that were read; nil without ``ReportOptions/readsSliceData``.
  public var sliceData: SliceDataTotals?

  /// Statistics of all slices that were counted, with ``ReportOptions/countedAccessUnits``.
  public internal(set) var statistics: PictureStatistics? {
    get { boxedStatistics?.value }
    set { boxedStatistics = newValue.map { StatisticsBox($0) } }
  }
  private var boxedStatistics: StatisticsBox?

  /// Counts an access unit, but not its NAL units.
  mutating func add(_ accessUnit: AccessUnitRecord) {
    accessUnits += 1
    bytes += accessUnit.size
    switch accessUnit.letter {
    case 0x49: intra += 1
    case 0x50: predicted += 1
    case 0x42: bidirectional += 1
    default: break
    }
    if accessUnit.keyframe != .none { keyframes += 1 }
  }

  /// The number of findings of a severity, including those that are not listed.
  public func count(of severity: Finding.Severity) -> UInt64 {
    var sum: UInt64 = 0
    for rule in Rule.allCases where rule.severity == severity { sum += findings[rule.rawValue] }
    return sum
  }
}
