// SPDX-License-Identifier: MPL-2.0

/// Gives the pictures of a raw stream, which has no timestamps, their times: from picture order counts and frame rate.
///
/// Each picture is shown to ``read(_:rate:generation:)`` first, and where that does not know it, to
/// ``read(_:isContinued:endsSequence:rate:parameterSets:generation:lookingAt:from:isComplete:)``. Then its times are
/// there to be taken.
package protocol PresentationTiming: Sendable {
  /// Whose stream it times.
  associatedtype Codec: ElementCodecSyntax

  /// Creates a timeline that begins with the first picture it is shown.
  init()

  /// Whether a picture was read whose times were not taken yet.
  var hasPicture: Bool { get }

  /// Reads a picture that goes on in the sequence that is being timed.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - rate: frames a second; nil when unknown.
  ///   - generation: how often parameter sets have changed: as long as that stays, the SPS need not be compared.
  /// - Returns: whether it does go on; if not, nothing was read.
  mutating func read(_ slice: Codec.SliceHeader, rate: Fraction?, generation: UInt64) -> Bool

  /// Reads a picture that may begin a sequence, for which the pictures behind it have to be looked at.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - isContinued: whether this was called for the same picture before, and answered false.
  ///   - endsSequence: whether an end of sequence or stream stands behind the picture.
  ///   - rate: frames a second; nil when unknown.
  ///   - parameterSets: those so far.
  ///   - generation: how often they have changed.
  ///   - bytes: what is there, in Annex B, beginning with the picture.
  ///   - offset: where the next access unit begins in it.
  ///   - isComplete: whether no more data is to be waited for.
  /// - Returns: whether enough is known: otherwise the picture waits for more data.
  mutating func read(
    _ slice: Codec.SliceHeader, isContinued: Bool, endsSequence: Bool, rate: Fraction?,
    parameterSets: borrowing Codec.ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
    isComplete: Bool
  ) -> Bool

  /// The times of the picture that was read last, once; nil when there is none, or no frame rate.
  mutating func takeTimes() -> PresentationTimes?

  /// Takes note of an end of sequence or stream behind the picture before.
  mutating func endSequence()

  /// Moves time so that a picture that was timed at one time is shown at another, both in nanoseconds.
  mutating func move(_ time: UInt64, to other: UInt64)
}

/// When a picture is shown and decoded, in nanoseconds from the start of the stream.
package struct PresentationTimes: Sendable, Hashable {
  /// When it is shown.
  package var presentation: UInt64
  /// When it is decoded, never later.
  package var decoding: UInt64
}
