// SPDX-License-Identifier: MPL-2.0

/// Times the pictures of a raw stream, which has no timestamps, by POC and frame rate.
///
/// Pass each picture to ``read(_:rate:generation:)`` first and, where that returns false, to
/// ``read(_:isContinued:endsSequence:rate:parameterSets:generation:lookingAt:from:isComplete:)``. Then take its times.
package protocol PresentationTiming: Sendable {
  /// The codec of the stream.
  associatedtype Codec: ElementCodecSyntax

  /// Creates a timeline that begins with the first picture it gets.
  init()

  /// Whether a picture was read whose times were not taken yet.
  var hasPicture: Bool { get }

  /// Reads a picture that continues the sequence being timed, unless later pictures may have to be read for it: one
  /// that resets POC and may have leading pictures.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - rate: frames a second; nil when unknown.
  ///   - generation: how often parameter sets have changed: while it is the same, the SPS need not be compared.
  /// - Returns: whether it does continue it; if not, nothing was read.
  mutating func read(_ slice: Codec.SliceHeader, rate: Ratio?, generation: UInt64) -> Bool

  /// Reads a picture that may begin a sequence, for which later pictures have to be read.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - isContinued: whether this was called for the same picture before, and returned false.
  ///   - endsSequence: whether an end of sequence or stream follows the picture.
  ///   - rate: frames a second; nil when unknown.
  ///   - parameterSets: the parameter sets so far.
  ///   - generation: how often they have changed.
  ///   - bytes: the data, in Annex B, from the picture on.
  ///   - offset: where the next access unit begins in it.
  ///   - isComplete: whether not to wait for more data.
  /// - Returns: whether enough is known; else the picture waits for more data.
  mutating func read(
    _ slice: Codec.SliceHeader, isContinued: Bool, endsSequence: Bool, rate: Ratio?,
    parameterSets: borrowing Codec.ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
    isComplete: Bool
  ) -> Bool

  /// The times of the picture read last, once; nil when there is none, or no frame rate.
  mutating func takeTimes() -> PresentationTimes?

  /// An end of sequence or stream follows the last picture.
  mutating func endSequence()

  /// Moves times so that what was at `time` is at `other`, both in nanoseconds.
  mutating func move(_ time: UInt64, to other: UInt64)
}
