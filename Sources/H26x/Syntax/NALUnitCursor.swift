// SPDX-License-Identifier: MPL-2.0

/// How far the search for start codes has come in a byte stream that arrives in pieces, so that no byte is looked at
/// twice. Offsets count from the start of the data in hand.
struct NALUnitCursor: Sendable {
  /// Whether a NAL unit has begun at `start`.
  var isInNALUnit = false
  /// Where its start code begins.
  var start = 0
  /// Where its header byte is.
  var payload = 0
  /// No start code begins before here but those found.
  var searched = 0
  /// Whether the detector has seen its header.
  var isDetected = false
  /// Whether an access unit begins with it, as the detector says.
  var beginsAccessUnit = false
  /// Where the prefix NAL unit begins that goes where the next slice goes.
  var prefixStart: Int?
  /// Where the NAL unit in front of that ends.
  var endBeforePrefix = 0

  /// A slice header as far as it tells pictures apart fits in this many bytes, emulation prevention included.
  static let headLength = 64

  /// Begins a NAL unit whose start code prefix (00 00 01) was found.
  mutating func begin(prefix: Int, zeroByte: Bool) {
    isInNALUnit = true
    start = zeroByte ? prefix - 1 : prefix
    payload = prefix + 3
    searched = payload
    isDetected = false
    beginsAccessUnit = false
  }

  /// The data in hand begins so many bytes later now.
  mutating func discard(_ count: Int) {
    start = max(0, start - count)
    payload = max(0, payload - count)
    searched = max(0, searched - count)
    prefixStart = prefixStart.flatMap { $0 >= count ? $0 - count : nil }
  }
}
