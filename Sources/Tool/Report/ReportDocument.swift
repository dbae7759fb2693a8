// SPDX-License-Identifier: MPL-2.0
import Containers
import StreamReport

/// The document in a report page, which stays so small that browsers open it, whatever the stream's length is.
struct ReportDocument {
  /// After this many bytes, access units and parameter sets are listed without syntax elements.
  private let detailLimit: Int
  /// After this many bytes, they are not listed. The findings and the summary still cover the whole stream.
  private let listLimit: Int
  private var lines = JSONLines()
  /// Bytes that were taken.
  private var taken = 0

  init(detailLimit: Int = 48 << 20, listLimit: Int = 80 << 20) {
    (self.detailLimit, self.listLimit) = (detailLimit, listLimit)
  }

  /// Bytes that were written and not taken yet.
  var bytes: [UInt8] { lines.bytes }

  mutating func take() -> [UInt8] {
    let bytes = lines.take()
    taken += bytes.count
    return bytes
  }

  mutating func append(_ item: ReportItem) {
    let count = taken + lines.bytes.count
    guard count <= listLimit || !Self.isListed(item) else { return }
    lines.append(count > detailLimit ? Self.withoutDetails(item) : item)
  }

  /// Whether there may be a line of its kind for each access unit.
  private static func isListed(_ item: ReportItem) -> Bool {
    switch item {
    case .accessUnit, .parameterSet: true
    case .stream, .finding, .summary: false
    }
  }

  private static func withoutDetails(_ item: ReportItem) -> ReportItem {
    switch item {
    case .accessUnit(var accessUnit):
      for index in accessUnit.nalUnits.indices {
        (accessUnit.nalUnits[index].fields, accessUnit.nalUnits[index].bytes) = ([], [])
      }
      return .accessUnit(accessUnit)
    case .parameterSet(var set):
      (set.nalUnit.fields, set.nalUnit.bytes) = ([], [])
      return .parameterSet(set)
    default: return item
    }
  }
}
