// SPDX-License-Identifier: MPL-2.0
import H26x

/// The parameter sets of the stream, and which of them downstream has not got yet.
struct RepackParameterSets<Codec: RepackCodec> {
  /// A parameter set that must go before the next picture.
  private struct Pending {
    var nalUnit: [UInt8]
    /// It was in the stream, in an access unit of its own, and not out of band.
    var wasInBand: Bool
  }

  /// The outcome of inserting a parameter set into the store.
  enum Insertion { case unreadable, unchanged, changed }

  /// The latest of each kind and id.
  private(set) var store = Codec.ParameterSets()
  /// Counts changes of the sets.
  private(set) var version: UInt64 = 0
  /// A change was sent in-band: `codec_data` is outdated.
  private(set) var isDescriptionStale = false
  /// The input's caps brought parameter sets.
  private(set) var areOutOfBand = false
  private var pending: [Pending] = []
  /// The input's `codec_data`, read and as it is.
  private var record: Codec.ConfigurationRecord?
  private var recordBytes: [UInt8] = []
  /// Something in the stream contradicts the parameter sets of `codec_data`.
  private var isContradicted = false

  /// Every id of every kind: a sane stream has no more.
  private static var maximumPending: Int { 16 + 32 + 32 + 32 + 256 }

  /// Takes the parameter sets of new caps. If there are none, the known ones stay: they are in the stream.
  mutating func adopt(_ caps: CompressedCaps<Codec>) {
    record = caps.record?.inOrder
    recordBytes = record == caps.record ? caps.codecData : []
    isContradicted = false
    areOutOfBand = Self.carriesParameterSets(caps)
    guard areOutOfBand else { return }
    version += 1
    store.removeAll()
    for nalUnit in nalUnits {
      // Unreadable parameter sets are passed on, too: a decoder may be able to read more.
      _ = try? store.insert(nalUnit.span)
    }
    makeAllPending()
  }

  /// Whether `codec_data` of these caps holds parameter sets.
  static func carriesParameterSets(_ caps: CompressedCaps<Codec>) -> Bool {
    caps.record?.nalUnits.contains { Codec.role(of: $0.span) == .sequenceParameterSet } ?? false
  }

  /// Downstream may have lost the parameter sets of `codec_data`, as after a seek.
  mutating func makeAllPending() {
    guard description != nil else { return }
    pending.removeAll { !$0.wasInBand }
    pending += nalUnits.map { Pending(nalUnit: $0, wasInBand: false) }
  }

  /// Takes a parameter set of the stream.
  mutating func insert(_ nalUnit: Span<UInt8>) -> Insertion {
    do throws(BitstreamError) {
      guard try store.insert(nalUnit) != .unchanged else { return .unchanged }
    } catch {
      return .unreadable
    }
    isContradicted = true
    version += 1
    return .changed
  }

  /// Keeps parameter sets for the next picture.
  mutating func addPending(_ nalUnits: [[UInt8]]) {
    for nalUnit in nalUnits
    where pending.count < Self.maximumPending && !pending.contains(where: { $0.nalUnit == nalUnit }) {
      pending.append(Pending(nalUnit: nalUnit, wasInBand: true))
    }
  }

  /// Downstream has all parameter sets in a form that differs from the next picture's.
  mutating func makeStale() {
    addPending(nalUnits)
    isDescriptionStale = true
  }

  /// Downstream has everything, by `codec_data` or in-band.
  ///
  /// - Parameter leavesDescriptionStale: whether its `codec_data` has older sets.
  mutating func markDelivered(leavesDescriptionStale: Bool) {
    pending.removeAll(keepingCapacity: true)
    isDescriptionStale = leavesDescriptionStale
  }

  /// Whether some wait to be given to downstream.
  var hasPending: Bool { !pending.isEmpty }

  /// Whether some go downstream with the next access unit.
  var areToBeSent: Bool { hasPending || isDescriptionStale }

  /// All NAL units in the order in which a decoder needs them.
  var nalUnits: [[UInt8]] {
    description?.nalUnits ?? store.nalUnits
  }

  /// Pending parameter sets that no later one with the same id replaces, in the order in which a decoder needs them.
  func pendingNALUnits(includingOutOfBand: Bool) -> [[UInt8]] {
    guard hasPending else { return [] }
    return nalUnits.filter { nalUnit in
      pending.contains { ($0.wasInBand || includingOutOfBand) && $0.nalUnit == nalUnit }
    }
  }

  /// Whether `codec_data` can be made.
  var canDescribe: Bool { description != nil || store.canReadSlices }

  /// `codec_data` for length-prefixed output; nil when parameter sets are missing, or are more than it can hold.
  func codecData(
    for output: StreamFormat<Codec>, input: StreamFormat<Codec>, _ lengthSize: NALLengthSize,
    _ edits: RepackEditing<Codec>
  ) -> [UInt8]? {
    // Unreadable codec_data is passed on as it is.
    if output == input, record == nil, !recordBytes.isEmpty { return recordBytes }
    // With avc3 or hev1 on both sides it stays, whatever comes in the stream.
    if let record, output == .inBand, input == .inBand { return bytes(of: edits.edited(record), lengthSize) }
    guard canDescribe else { return nil }
    do throws(BitstreamError) {
      let unedited =
        if let description { description } else {
          try Codec.ConfigurationRecord(store, nalLengthSize: lengthSize)
        }
      let current = edits.edited(unedited)
      return bytes(of: output == .inBand ? current.withoutParameterSets : current, lengthSize)
    } catch {
      return nil
    }
  }

  /// The bytes of a record, with this length size.
  private func bytes(of record: Codec.ConfigurationRecord, _ lengthSize: NALLengthSize) -> [UInt8]? {
    if record == self.record, record.nalLengthSize == lengthSize, !recordBytes.isEmpty { return recordBytes }
    var changed = record
    changed.nalLengthSize = lengthSize
    do throws(BitstreamError) { return try changed.bytes() } catch { return nil }
  }

  /// The input's record, as long as nothing in the stream contradicts its parameter sets.
  private var description: Codec.ConfigurationRecord? { areOutOfBand && !isContradicted ? record : nil }
}
