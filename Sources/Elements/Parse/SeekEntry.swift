// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A keyframe: all pictures after it, or after the end of its recovery, are right.
struct SeekEntry<Codec: ParserCodec> {
  /// The reader when the access unit was found.
  let reader: ParserReader<Codec>
  /// The access unit's position in the file.
  let offset: UInt64
  /// Its presentation time.
  let time: ClockTime?
  /// The recovery of a gradual keyframe.
  private var recovery: RecoveryProgress<Codec>?

  init(
    _ reader: ParserReader<Codec>, at offset: UInt64, _ time: ClockTime?, _ recovery: RecoveryProgress<Codec>? = nil
  ) {
    (self.reader, self.offset, self.time, self.recovery) = (reader, offset, time, recovery)
  }

  /// Whether pictures are right from here on.
  var isComplete: Bool { recovery?.isComplete ?? true }

  /// Another picture was read, with this first slice.
  mutating func advance(_ slice: Codec.SliceHeader, sps: borrowing Codec.SequenceParameterSet) {
    recovery?.take(slice, sps: sps)
  }
}
