// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What was found ahead of what goes out.
enum SkimmedAccessUnit<Codec: ParserCodec> {
  /// The caps have to be made before it is known.
  case announce
  /// Its end, or what it takes to know its time, is not in the data.
  case incomplete
  /// So many bytes without the beginning of a picture.
  case other(Int)
  /// An access unit of so many bytes with the beginning of a picture, with its times; the entry if decoding can begin with
  /// it.
  case picture(Int, Buffer.Attributes, SeekEntry<Codec>?)
}

/// A keyframe from which on, or from the end of its recovery on, all pictures are right.
struct SeekEntry<Codec: ParserCodec> {
  /// The parser when the access unit was found.
  private(set) var core: ParserCore<Codec>
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
