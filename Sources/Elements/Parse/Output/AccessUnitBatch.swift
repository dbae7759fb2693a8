// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Stage: access units that are pushed without the base class.
///
/// GstBaseParse takes as long over a small access unit as parsing it does. When a raw file is read from start to end,
/// GstBaseParse has nothing to decide about small access units between two random access points. It gets several of
/// them as one frame. All but the last are pushed here; the base class pushes the last, and counts the bytes and the
/// duration of all.
struct AccessUnitBatch<Codec: ParserCodec>: Sendable {
  /// The end of the last access unit so far, in bytes of the frame.
  private(set) var end = 0
  /// Size of the first access unit, which ``ParserIntake`` has counted.
  private var first = 0
  /// DTS of the first one.
  private var firstDecoding: ClockTime?
  /// Size of the access unit that was found after `end`.
  private var next = 0
  /// There are new tags to send.
  private var changesTags = false
  /// To be restored if the batch is interrupted: the base class then hands over the same data again. Nil when no batch
  /// may begin.
  private(set) var timestampsBefore: ParserTimestamps<Codec>?

  /// The part of a batch that the base class is given.
  struct Result {
    /// Its size in bytes.
    let size: Int
    /// Its duration; nil when the base class computes it.
    let duration: ClockTime?
    /// There are new tags to send.
    let changesTags: Bool
  }

  /// The data that comes may begin a batch.
  mutating func prepare(_ timestamps: ParserTimestamps<Codec>) { timestampsBefore = timestamps }

  /// The data that comes may not begin a batch.
  mutating func forbid() {
    if case .some = timestampsBefore { timestampsBefore = nil }
  }

  /// Begins with an access unit of `size` bytes, unless forbidden. Returns whether it began. It does not begin with
  /// an access unit that the base class puts into its index. The first access unit after a seek is excluded, too,
  /// because the base class gives it the time.
  mutating func begin(with accessUnit: ParsedAccessUnit<Codec>, size: Int) -> Bool {
    if case .none = timestampsBefore { return false }
    guard accessUnit.attributes.pts != nil, accessUnit.isRandomAccessPoint == false else { return false }
    (first, end, firstDecoding, changesTags) = (size, size, accessUnit.attributes.dts, false)
    return true
  }

  /// Skips unusable bytes.
  mutating func skip(_ size: Int) { end += size }

  /// Another access unit of `size` bytes follows.
  mutating func add(_ size: Int, changesTags: Bool) {
    next = size
    if changesTags { self.changesTags = true }
  }

  /// The access unit before was pushed. Returns the beginning of the next.
  mutating func advance() -> Int {
    let start = end
    end += next
    return start
  }

  /// Ends the batch.
  ///
  /// - Parameters:
  ///   - last: times of the last access unit.
  ///   - isOne: whether there is no other.
  mutating func finish(_ last: Buffer.Attributes, isOne: Bool) -> Result {
    // The base class expects the next frame at this one's DTS plus its duration.
    guard !isOne, let firstDecoding, let dts = last.dts else {
      return Result(size: end, duration: nil, changesTags: changesTags)
    }
    return Result(
      size: end, duration: dts + (last.duration ?? .zero) - firstDecoding, changesTags: changesTags)
  }

  /// Bytes after the first access unit.
  var addedBytes: Int { end - first }
}
