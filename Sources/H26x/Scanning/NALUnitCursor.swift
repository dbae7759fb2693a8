// SPDX-License-Identifier: MPL-2.0

/// The state of the search for start codes in a byte stream that arrives in pieces, so that no byte is searched
/// twice. Offsets count from the start of the data.
struct NALUnitCursor: Sendable {
  /// Whether a NAL unit begins at `start`.
  var isInNALUnit = false
  /// Offset of its start code.
  var start = 0
  /// Offset of its header byte.
  var payload = 0
  /// Offset up to which all start codes were found.
  var searched = 0
  /// Whether the detector was fed with it.
  var isDetected = false
  /// Whether an access unit begins with it, by the detector.
  var beginsAccessUnit = false
  /// Offset of the prefix NAL unit that belongs to the next slice.
  var prefixStart: Int?
  /// End of the NAL unit before the prefix NAL unit.
  var endBeforePrefix = 0

  /// Bytes in which a slice header fits up to ``SliceHeaderDepth/pictureIdentity``, emulation prevention included.
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

  /// `count` bytes were removed from the front of the data.
  mutating func discard(_ count: Int) {
    start = max(0, start - count)
    payload = max(0, payload - count)
    searched = max(0, searched - count)
    prefixStart = prefixStart.flatMap { $0 >= count ? $0 - count : nil }
  }
}
