// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// How much later than upstream's the outgoing segment and every timestamp in it is.
///
/// Decoding begins before the first picture is shown, and containers that give only PTS begin with a PTS of 0. The
/// shift makes room for DTS and leaves running time and stream time as they are. It moves start, stop and position of
/// the segment, but not base and time. It is found with the first picture, and lasts until a flush: a segment without
/// one continues, and downstream may hold pictures of the one before. Segments after a flush have none.
struct SegmentShift: Sendable {
  /// The segment to send downstream before the first buffer.
  struct Announcement: Sendable {
    var amount: ClockTime
    var sequenceNumber: UInt32
  }

  private enum State: Sendable {
    /// No picture came yet, and no segment that may be shifted.
    case new
    /// The first picture of this segment decides.
    case open(sequenceNumber: UInt32)
    case shifted(isAnnounced: Bool, sequenceNumber: UInt32)
    case over
  }

  private var state = State.new
  /// How much later; zero when the segment is not shifted.
  private(set) var amount = ClockTime.zero

  /// Whether the segment is shifted.
  var isShifted: Bool { amount > .zero }

  /// Whether the next picture decides.
  var isOpen: Bool {
    if case .open = state { return true }
    return false
  }

  /// Whether the shifted segment has to be sent.
  var awaitsAnnouncement: Bool {
    if case .shifted(isAnnounced: false, _) = state { return true }
    return false
  }

  /// A new stream begins.
  mutating func beginStream() { self = SegmentShift() }

  /// A segment begins.
  ///
  /// - Parameter mayShift: whether it is in time and played forwards.
  mutating func beginSegment(_ mayShift: Bool, sequenceNumber: UInt32) {
    switch state {
    case .new, .open: state = mayShift ? .open(sequenceNumber: sequenceNumber) : .new
    case .shifted where mayShift: state = .shifted(isAnnounced: false, sequenceNumber: sequenceNumber)
    case .shifted, .over: end()
    }
  }

  /// Downstream has dropped what came before.
  mutating func flush() {
    if case .shifted = state { end() }
  }

  private mutating func end() {
    amount = .zero
    state = .over
  }

  /// The first picture without a decoding time comes.
  ///
  /// - Parameters:
  ///   - presentation: its PTS.
  ///   - delay: how long before that it is decoded.
  mutating func begin(with presentation: ClockTime, needing delay: ClockTime) {
    guard case .open(let sequenceNumber) = state else { return }
    amount = delay - presentation
    state = isShifted ? .shifted(isAnnounced: false, sequenceNumber: sequenceNumber) : .over
  }

  /// The first picture was output: it is too late for a shift.
  mutating func close() {
    if case .open = state { state = .over }
  }

  /// The shifted segment, if it has to be sent. The caller sends it.
  mutating func takeAnnouncement() -> Announcement? {
    guard case .shifted(isAnnounced: false, let sequenceNumber) = state else { return nil }
    state = .shifted(isAnnounced: true, sequenceNumber: sequenceNumber)
    return Announcement(amount: amount, sequenceNumber: sequenceNumber)
  }

  /// A time of upstream's segment in the outgoing one, at least 0.
  func shifted(_ nanoseconds: Int64) -> ClockTime {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(Int64(clamping: amount.nanoseconds))
    return ClockTime(nanoseconds: UInt64(max(0, overflow ? .max : sum)))
  }
}
