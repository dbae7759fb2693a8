// SPDX-License-Identifier: MPL-2.0
import H26x

/// The parameter sets of the stream, and which of them downstream has not been given yet.
struct H264RepackParameterSets {
  /// A parameter set that must go before the next picture.
  struct Pending {
    var nalUnit: [UInt8]
    /// It was in the stream, in an access unit of its own, and not out of band.
    var wasInBand: Bool
  }

  /// What became of a parameter set of the stream.
  enum Insertion { case unreadable, unchanged, changed }

  private(set) var store = H264.ParameterSets()
  private(set) var pending: [Pending] = []
  /// A change went to downstream in-band, so that `codec_data` is behind the stream.
  private(set) var isDescriptionStale = false
  /// The input's caps brought parameter sets.
  private(set) var areOutOfBand = false
  /// The input's `codec_data`, as long as nothing in the stream contradicts it.
  private var record: H264.DecoderConfigurationRecord?
  private var recordBytes: [UInt8] = []

  /// More cannot be waiting in a sane stream: every id of every kind.
  private static let maximumPending = 32 + 32 + 32 + 256

  /// Takes the parameter sets of new caps. Without any out of band, those known are kept: they are in the stream.
  mutating func adopt(_ format: H264RepackFormat) {
    record = nil
    recordBytes = []
    areOutOfBand = format.carriesParameterSets
    guard format.carriesParameterSets, let record = format.record else { return }
    store.removeAll()
    self.record = record
    recordBytes = format.recordBytes
    for nalUnit in nalUnits {
      // One that cannot be read is passed on all the same: a decoder may know more.
      _ = try? store.insert(nalUnit.span)
    }
    makeAllPending()
  }

  /// Says that downstream may know nothing any more, as after a seek.
  mutating func makeAllPending() {
    guard record != nil else { return }
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
    record = nil
    return .changed
  }

  /// Keeps a parameter set for the next picture.
  mutating func addPending(_ nalUnit: [UInt8]) {
    guard pending.count < Self.maximumPending, !pending.contains(where: { $0.nalUnit == nalUnit }) else { return }
    pending.append(Pending(nalUnit: nalUnit, wasInBand: true))
  }

  /// Downstream has everything, by `codec_data` or in-band.
  mutating func markDelivered(outOfBand: Bool) {
    pending.removeAll(keepingCapacity: true)
    isDescriptionStale = !outOfBand
  }

  /// All NAL units in the order in which a decoder needs them.
  var nalUnits: [[UInt8]] {
    if let record {
      return record.sequenceParameterSets + (record.high?.sequenceParameterSetExtensions ?? [])
        + record.pictureParameterSets
    }
    return store.sequenceParameterSetNALUnits + store.subsetSequenceParameterSetNALUnits + store.extensionNALUnits
      + store.pictureParameterSetNALUnits
  }

  /// Those that wait and were not overtaken by others of the same id, in the order in which a decoder needs them.
  func pendingNALUnits(includingOutOfBand: Bool) -> [[UInt8]] {
    guard !pending.isEmpty else { return [] }
    return nalUnits.filter { nalUnit in
      pending.contains { ($0.wasInBand || includingOutOfBand) && $0.nalUnit == nalUnit }
    }
  }

  /// Whether `codec_data` can be made.
  var canDescribe: Bool { record != nil || store.canReadSlices }

  /// `codec_data` for output; nil when the parameter sets are missing, or more than the record can hold.
  func codecData(for streamFormat: StreamFormat, lengthSize: NALLengthSize) -> [UInt8]? {
    if let record, streamFormat == .avc, record.nalLengthSize == lengthSize { return recordBytes }
    guard canDescribe else { return nil }
    do throws(BitstreamError) {
      var result: H264.DecoderConfigurationRecord
      if let record {
        result = record
      } else {
        result = try H264.DecoderConfigurationRecord(store, nalLengthSize: lengthSize)
      }
      result.nalLengthSize = lengthSize
      return try (streamFormat == .avc3 ? result.withoutParameterSets : result).bytes()
    } catch {
      return nil
    }
  }
}
