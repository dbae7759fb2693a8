// SPDX-License-Identifier: MPL-2.0
import H26x

/// Access units whose result is not yet known, the oldest first. Bounded by what a decoder can hold back.
struct PendingAccessUnits {
  private var records: [LedgerEntry] = []

  /// The oldest one.
  var first: LedgerEntry? { records.first }
  /// The youngest one.
  var last: LedgerEntry? { records.last }
  var isEmpty: Bool { records.isEmpty }

  /// Adds the youngest one. Indices rise; gaps are allowed.
  mutating func append(_ record: LedgerEntry) {
    assert(records.last.map { $0.index < record.index } ?? true, "access units out of order")
    records.append(record)
  }

  subscript(index: UInt64) -> LedgerEntry? { position(of: index).map { records[$0] } }
  /// A part of one that each picture needs, without a copy of the rest.
  func hash(of index: UInt64) -> H265.DecodedPictureHash? { position(of: index).flatMap { records[$0].summary.hash } }

  /// Changes one in place, if it is there.
  mutating func update(_ index: UInt64, _ change: (inout LedgerEntry) -> Void) {
    guard let position = position(of: index) else { return }
    change(&records[position])
  }

  /// Changes all in place that come after `index`.
  mutating func updateAll(after index: UInt64, _ change: (inout LedgerEntry) -> Void) {
    for position in records.indices where records[position].index > index { change(&records[position]) }
  }

  /// Takes one out.
  mutating func remove(_ index: UInt64) -> LedgerEntry? { position(of: index).map { records.remove(at: $0) } }

  /// Takes the oldest one out.
  mutating func popFirst() -> LedgerEntry? { records.isEmpty ? nil : records.removeFirst() }

  private func position(of index: UInt64) -> Int? {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].index < index { low = middle + 1 } else { high = middle }
    }
    return low < records.count && records[low].index == index ? low : nil
  }
}
