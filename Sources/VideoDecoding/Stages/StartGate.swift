// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The gate at the start of decoding: access units wait here until one comes that may be the first.
struct StartGate {
  /// The kind of access unit that decoding began at.
  enum Start: Equatable {
    /// An IDR picture or a recovery point: libavcodec can distinguish correct pictures.
    case marked
    /// A recovery point that is reached only later (gradual refresh): every picture until then is damaged.
    case gradual
    /// An intra picture, in a stream that marks nothing: later pictures may refer to earlier ones.
    case intra
    /// Any picture, because nothing better came in time: every picture is damaged.
    case forced
  }

  private enum State: Equatable {
    /// Access units are held until one may be the first.
    case closed
    /// The codec was lost for good: access units are dropped until one may be the first.
    case lost
    /// Decoding has begun.
    case open(Start)
  }

  /// The access units that wait in the ledger, in sum.
  private struct Held {
    var count = 0
    var byteCount = 0
    var times: ClosedRange<Duration>?
    var holdsPictures = false
  }

  /// The treatment of an access unit.
  enum Admission {
    case passes, begins, waits, isLost
  }

  private var state = State.closed
  private var held = Held()
  /// The picture that decoding began at, as long as it has not come out.
  private var awaitedPicture: UInt64?
  /// The reason that the codec was lost, as long as no access unit has been dropped because of it.
  private(set) var unreportedLoss: DecodeError?
  /// A correct picture has come out since decoding began: all later ones in output order have their references.
  private(set) var hasRecovered = false
  private let patience: Duration
  private let byteLimit: Int
  private let countLimit: Int

  init(_ configuration: SessionConfiguration) {
    patience = configuration.startPatience
    byteLimit = configuration.replayByteLimit
    countLimit = configuration.replayCountLimit
  }

  var isClosed: Bool { state == .closed }
  var isLost: Bool { state == .lost }
  var isHolding: Bool { held.count > 0 }
  var isHoldingPictures: Bool { held.holdsPictures }
  /// The kind of access unit that decoding began at; nil before.
  var start: Start? {
    if case .open(let start) = state { start } else { nil }
  }
  /// Waiting is over: begin with the available access units.
  var isOverdue: Bool {
    guard isHolding else { return false }
    let waited = held.times.map {
      $0.upperBound.attoseconds.subtractingReportingOverflow($0.lowerBound.attoseconds)
    }
    let isOverdue = waited.map { $0.overflow || $0.partialValue >= patience.attoseconds } ?? (patience <= .zero)
    return isOverdue || held.count >= countLimit || held.byteCount >= byteLimit
  }

  /// Decides about the next access unit.
  ///
  /// - Parameter isDropped: whether the codec does not get it once decoding has begun, so that decoding cannot begin
  ///   with it.
  mutating func admit(_ summary: DecodingSummary, index: UInt64, isDropped: Bool = false) -> Admission {
    switch (state, isDropped ? .none : summary.randomAccess) {
    case (.open, .idr):
      state = .open(.marked)
      return .passes
    case (.open, _):
      return .passes
    case (_, .idr), (_, .cra), (_, .recoveryPoint(frameCount: 0, _)):
      return begin(.marked, at: index)
    case (_, .recoveryPoint):
      return begin(.gradual, at: index)
    case (_, .intra):
      return begin(.intra, at: index)
    // After a loss an intra picture is enough, even if the stream marks random access points.
    case (.lost, .none):
      return summary.isIntra && !isDropped ? begin(.intra, at: index) : .isLost
    case (.closed, .none):
      return .waits
    }
  }

  private mutating func begin(_ start: Start, at index: UInt64) -> Admission {
    state = .open(start)
    awaitedPicture = index
    unreportedLoss = nil
    return .begins
  }

  /// An access unit waits.
  mutating func hold(_ entry: LedgerEntry) {
    held.count += 1
    held.byteCount += entry.packet?.byteCount ?? 0
    if entry.summary.nalUnitType != nil { held.holdsPictures = true }
    guard let time = entry.request.time else { return }
    held.times = held.times.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
  }

  /// No access unit waits any longer.
  mutating func release() { held = Held() }

  /// Begins without a random access point, with the waiting access units, if there is a picture among them. Returns
  /// whether there is: with nothing but parameter sets or the like, decoding does not begin.
  mutating func force() -> Bool {
    defer { release() }
    guard isHoldingPictures else { return false }
    state = .open(.forced)
    return true
  }

  /// No later picture can refer to decoded ones: nothing is decoded before the next access unit that may be the
  /// first. If no random access point ever came, none is waited for.
  mutating func close() {
    awaitedPicture = nil
    if case .open(let start) = state, start != .forced { state = .closed }
  }

  /// Another stream begins, or another part of this one.
  mutating func reset() {
    awaitedPicture = nil
    if state != .lost { state = .closed }
  }

  /// The codec was lost for good. If there never was a random access point, the gate does not wait for one.
  ///
  /// - Parameter failure: the reason, if nothing is missing so far: reported with the first access unit that is
  ///   dropped.
  mutating func lose(unreported failure: DecodeError? = nil) {
    awaitedPicture = nil
    guard state != .open(.forced) else { return }
    state = .lost
    unreportedLoss = failure
  }

  /// An access unit is dropped because the codec was lost. Returns the reason, if it has yet to be reported.
  mutating func takeUnreportedLoss() -> DecodeError? { unreportedLoss.take() }

  /// A correct picture is output.
  mutating func outputCorrectPicture() { hasRecovered = true }

  /// Nothing decoded so far can be referred to any more.
  mutating func forgetDecoded() { hasRecovered = false }

  /// The picture of this access unit is output, or never will be.
  mutating func outputPicture(_ index: UInt64) {
    if awaitedPicture == index { awaitedPicture = nil }
  }

  /// Whether a picture is not for output, because it was decoded without its references.
  func isUnrecovered(_ record: LedgerEntry, isFlagged: Bool, isDraining: Bool) -> Bool {
    switch record.start {
    // libavcodec does not flag pictures that come out only because it is drained.
    case .marked:
      isFlagged || (!hasRecovered && record.summary.awaitsRecovery)
        || (isDraining && !hasRecovered && !record.standsAlone)
    // libavcodec decides by the size of reference lists, and may never take an intra picture for a start.
    case .intra: isLeading(record.index)
    case .gradual, .forced: false
    }
  }

  /// Whether a picture is shown before the recovery point is reached at which decoding began.
  func awaitsRecovery(_ record: LedgerEntry, isTainted: Bool) -> Bool {
    record.start == .gradual && (isTainted || !hasRecovered && record.summary.awaitsRecovery)
  }

  /// Whether a picture that comes out now precedes the one at which decoding began: its references are missing.
  func isLeading(_ index: UInt64) -> Bool { awaitedPicture.map { $0 != index } ?? false }
}
