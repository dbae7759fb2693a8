// SPDX-License-Identifier: MPL-2.0

/// The parameter sets received so far, by id. Bounded for any stream.
public protocol ParameterSetStore: Sendable {
  /// The SPS that the store holds.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates an empty store.
  init()
  /// Takes a parameter set NAL unit. An unreadable one leaves the store as it was, unless nothing depends on it
  /// (H.265's VPS): see ``defect(of:)``.
  ///
  /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` for other types.
  @discardableResult
  mutating func insert(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetChange
  /// The reason that a stored parameter set cannot be read; nil if it can.
  func defect(of nalUnit: Span<UInt8>) -> BitstreamError?
  /// Forgets everything.
  mutating func removeAll()
  /// The SPS with the id, nil if there is none.
  func sequenceParameterSet(_ id: SequenceParameterSetID) -> SequenceParameterSet?
  /// The id of an SPS NAL unit; nil if it cannot be read.
  static func sequenceParameterSetID(of nalUnit: Span<UInt8>) -> SequenceParameterSetID?
  /// Whether a set of the same kind and id was read before.
  func holdsSet(withIDOf nalUnit: Span<UInt8>) -> Bool
  /// Whether there is no SPS.
  var isEmpty: Bool { get }
  /// Whether there is a PPS, with or without its SPS.
  var hasPictureParameterSet: Bool { get }
  /// Whether there is a PPS with its SPS: slices can be read.
  var canReadSlices: Bool { get }
  /// All NAL units in sending order: VPS, SPS, SPS extensions, subset SPS, PPS.
  var nalUnits: [[UInt8]] { get }
}

/// The result of inserting a parameter set.
public enum ParameterSetChange: Sendable, Hashable {
  /// Nothing: the same bytes were stored already.
  case unchanged
  /// There was none with its id.
  case added
  /// It differs from the set before with its id.
  case replaced
}

/// Parameter sets of one kind by id, with the bytes from which they were read.
struct ParameterSetTable<Kind, Value: Sendable>: Sendable {
  private struct Slot: Sendable {
    var bytes: [UInt8]
    var value: Value
  }

  private var slots: [Slot?]
  private(set) var count = 0

  /// The longest parameter set that is stored, in bytes: the most that the 16-bit lengths of configuration records can
  /// hold.
  static var maximumNALUnitLength: Int { 0xFFFF }

  /// Creates an empty table for ids below `capacity`.
  init(capacity: Int) { slots = [Slot?](repeating: nil, count: capacity) }

  /// Whether there is none.
  var isEmpty: Bool { count == 0 }

  /// The set with an id; nil if there is none.
  subscript(id: ParameterSetID<Kind>) -> Value? {
    Int(id.rawValue) < slots.count ? slots[Int(id.rawValue)]?.value : nil
  }

  /// All NAL units, by id.
  var nalUnits: [[UInt8]] { slots.compactMap { $0?.bytes } }

  /// Whether these bytes are stored under an id.
  func holds(_ bytes: Span<UInt8>, as id: ParameterSetID<Kind>) -> Bool {
    guard Int(id.rawValue) < slots.count, let slot = slots[Int(id.rawValue)] else { return false }
    return BulkBytes.areEqual(slot.bytes, bytes)
  }

  /// Stores a set. Ids beyond the table are ignored.
  mutating func insert(_ value: Value, _ bytes: Span<UInt8>, as id: ParameterSetID<Kind>) -> ParameterSetChange {
    let index = Int(id.rawValue)
    guard index < slots.count else { return .unchanged }
    let isNew = slots[index] == nil
    if isNew { count += 1 }
    slots[index] = Slot(bytes: [UInt8](copying: bytes), value: value)
    return isNew ? .added : .replaced
  }

  /// Checks the length of a set to be stored.
  ///
  /// - Throws: `.lengthOutOfBounds`.
  static func checkLength(_ bytes: Span<UInt8>) throws(BitstreamError) {
    guard bytes.count <= maximumNALUnitLength else {
      throw BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
    }
  }
}

extension [UInt8] {
  /// Copies a span into an array.
  package init(copying bytes: Span<UInt8>) {
    self.init(repeating: 0, count: bytes.count)
    var output = mutableSpan
    _ = BulkBytes.copy(bytes, 0..<bytes.count, to: &output, at: 0)
  }
}
