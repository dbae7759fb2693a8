// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A keyframe from which on, or from the end of its recovery on, all pictures are right.
struct SeekEntry<Codec: ParserCodec> {
  /// The parser when the access unit was found.
  let core: ParserCore<Codec>
  /// Where that is in the file.
  let offset: UInt64
  /// Its presentation time.
  let time: ClockTime?
  /// Of a gradual one.
  private var recovery: RecoveryProgress<Codec>?

  init(
    _ core: ParserCore<Codec>, at offset: UInt64, _ time: ClockTime?, _ recovery: RecoveryProgress<Codec>? = nil
  ) {
    (self.core, self.offset, self.time, self.recovery) = (core, offset, time, recovery)
  }

  /// Whether pictures are right from here on.
  var isComplete: Bool { recovery?.isComplete ?? true }

  /// Another picture was skimmed.
  mutating func advance(_ core: borrowing ParserCore<Codec>) {
    guard var recovery else { return }
    core.advance(&recovery)
    self.recovery = recovery
  }
}
