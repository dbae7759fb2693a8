// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Stage: access units that go past the base class.
///
/// The base class takes as long over a small access unit as parsing it does. Where it has nothing to decide, because a
/// raw file is read from its start to its end, it is given the small ones between two random access points together:
/// those in front are sent from here, the last one by the base class, which counts their bytes and their duration all
/// the same.
struct AccessUnitBatch<Codec: ParserCodec>: Sendable {
  /// Where the last one so far ends.
  private(set) var end = 0
  /// Where the first access unit ends, which was answered for.
  private var first = 0
  /// When the first one is decoded.
  private var firstDecoding: ClockTime?
  /// The size of the one that was found to follow.
  private var next = 0
  /// There are new tags to send.
  private var changesTags = false
  /// What is to hold again if the batch is interrupted: the base class then hands over the same data anew. Nil where
  /// there was to be no batch when the data came.
  private(set) var timestampsBefore: ParserTimestamps<Codec>?

  /// What became of a batch.
  struct Result {
    /// Where it ends.
    let size: Int
    /// How long it lasts; nil when the base class knows.
    let duration: ClockTime?
    /// There are new tags to send.
    let changesTags: Bool
  }

  /// Data comes that a batch may begin with.
  mutating func prepare(_ timestamps: ParserTimestamps<Codec>) { timestampsBefore = timestamps }

  /// Data comes that goes the usual way.
  mutating func forbid() {
    if case .some = timestampsBefore { timestampsBefore = nil }
  }

  /// Begins with an access unit of so many bytes. Answers whether it may.
  mutating func begin(_ size: Int, decoding: ClockTime?) -> Bool {
    if case .none = timestampsBefore { return false }
    (first, end, firstDecoding, changesTags) = (size, size, decoding, false)
    return true
  }

  /// Goes on behind bytes of no use.
  mutating func skip(_ size: Int) { end += size }

  /// Another access unit of so many bytes follows.
  mutating func add(_ size: Int, changesTags: Bool) {
    next = size
    if changesTags { self.changesTags = true }
  }

  /// The one before was pushed. Answers where the next begins.
  mutating func advance() -> Int {
    let start = end
    end += next
    return start
  }

  /// Nothing more goes out in this frame.
  ///
  /// - Parameters:
  ///   - last: times of the last access unit.
  ///   - isOne: whether it is the only one.
  mutating func finish(_ last: Buffer.Attributes, isOne: Bool) -> Result {
    // The base class goes on counting where the frame ends.
    guard !isOne, let firstDecoding, let dts = last.dts else {
      return Result(size: end, duration: nil, changesTags: changesTags)
    }
    return Result(
      size: end, duration: dts + (last.duration ?? .zero) - firstDecoding, changesTags: changesTags)
  }

  /// Bytes behind the first access unit.
  var addedBytes: Int { end - first }
}
