// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// An access unit in a session, until it has its result and no replay needs it.
struct LedgerEntry {
  /// The place of an access unit in a session.
  enum State {
    /// It waits at the gate for a random access point.
    case waiting
    /// The codec gets it next.
    case queued
    /// The codec has got it. Its result is not known yet.
    case pending
    /// It has its result, and is kept for a replay.
    case kept
  }

  /// Counts access units from 0; the packet's timestamp.
  let index: UInt64
  var request: DecodeRequest
  private(set) var summary: DecodingSummary
  /// Correct regardless of earlier pictures: an IDR picture or a picture after it in decoding order, a picture that
  /// completes a recovery, or a picture that is intra-coded throughout.
  var standsAlone = false
  /// The last picture up to this one that began a coded video sequence: once that is output, nothing from before it can
  /// follow.
  var sequenceStart: UInt64 = 0
  /// The start of the recovery that this picture completes; its own index for an IDR picture.
  var recoveryStart: UInt64?
  /// The kind of access unit that decoding began at.
  var start = StartGate.Start.marked
  /// It refers to nothing before this access unit, directly or through others; nil if unknown.
  var referencesSince: UInt64?
  /// Whether it references damaged pictures.
  var taint = Taint.none
  /// It is a field, and the other field came with the next access unit.
  var hasBothFields = false
  /// libavcodec has concealed damage in it.
  var isConcealed = false
  /// Slices of it, or of the other field, are damaged.
  var hasDamagedSlices = false
  /// The error with which libavcodec decoded it.
  var error: AVError?
  /// Access units before it that gave no picture.
  var countWithoutPictureBefore: UInt64 = 0

  var state = State.pending
  /// Its bytes, until the codec needs them no more.
  var packet: Packet?
  /// Parameter sets before it.
  var parameterSets: [UInt8] = []
  /// The parameter sets in force at it, including its own.
  var parameterSetsInForce: [UInt8] = []
  /// Decoding may begin here: a clean random access point, a splice, or the first one that is decoded.
  var isStart = false
  /// Its contents, until its slices are given to be verified; nil if they are not.
  var reading: AccessUnitDescription.Reading?

  enum Taint: Equatable {
    case none
    /// Correct once the picture of access unit `index` is output: only pictures shown before it reference damaged
    /// pictures.
    case until(index: UInt64)
    case tainted
  }

  /// The entry once it has its result: a replay needs no more than its packet.
  var kept: LedgerEntry {
    LedgerEntry(
      index: index, request: DecodeRequest(tag: request.tag), summary: DecodingSummary(), state: .kept, packet: packet)
  }

  /// The effect of damage that ends before access unit `damageEnd` on this picture and later ones.
  func remaining(_ taint: Taint, damageEnd: UInt64) -> Taint {
    guard taint != .none, let recoveryStart, recoveryStart >= damageEnd else { return taint }
    if recoveryStart == sequenceStart { return .none }
    return taint == .tainted ? .until(index: index) : taint
  }

  /// Whether damage that ends before access unit `damageEnd` cannot affect it.
  func isFree(ofDamageBefore damageEnd: UInt64) -> Bool { referencesSince.map { $0 >= damageEnd } ?? false }
}

extension DecodeError {
  /// The failure of an access unit that libavcodec decoded with error `code`.
  init(decoding record: LedgerEntry, code: AVError) {
    let reason: Reason =
      switch code {
      case .unsupportedFeature, .notImplemented: .unsupportedFeature
      case .outOfMemory: .allocationFailed
      case .serviceUnavailable, .fileSizeLimit, .descriptorLimit: .processUnavailable
      case .hardwareRefused, .hardwareBusy, .hardwareUnavailable: .hardwareUnavailable
      case let code where code.meansLostSession: .malfunction
      default: .badData
      }
    self.init(
      reason, code: code, tag: record.request.tag, accessUnitNumber: record.index,
      nalUnitType: record.summary.nalUnitType)
  }
}

extension SliceTask {
  /// The slices of an access unit.
  init(_ record: LedgerEntry, _ packet: Packet, _ reading: AccessUnitDescription.Reading, thread: Int? = 0) {
    let summary = record.summary
    self.init(
      index: record.index, tag: record.request.tag, nalUnitType: summary.nalUnitType, packet: packet, reading: reading,
      isReference: summary.isReference, hasReferenceSets: summary.references != nil,
      isSecondField: summary.isSecondField, thread: thread)
  }
}

extension PictureStatus {
  init(_ record: LedgerEntry, isCorrupt: Bool, latency: SessionLatency) {
    self.init(
      request: record.request, isCorrupt: isCorrupt, isSingleField: record.summary.isField && !record.hasBothFields,
      isRandomAccessPoint: record.summary.randomAccess != .none, latency: latency)
  }
}
