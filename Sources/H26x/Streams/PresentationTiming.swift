// SPDX-License-Identifier: MPL-2.0

/// Times the pictures of a raw stream, which has no timestamps, by POC and frame rate.
///
/// Pass each picture to ``read(_:rate:generation:)`` first and, if that returns false, to
/// ``read(_:isContinued:endsSequence:rate:parameterSets:generation:lookingAt:from:isComplete:)``. Then take its
/// times.
package protocol PresentationTiming: Sendable {
  /// The codec of the stream.
  associatedtype Codec: ElementCodecSyntax

  /// Creates a timeline that begins with the first picture it gets.
  init()

  /// Field periods for which the picture that is read next is shown, by its SEI; nil if that has no value.
  var fieldPeriods: Int? { get set }

  /// Whether a picture may wait for later ones even if the stream sends a reorder depth of 0, to verify that. False at
  /// first: a live stream has no time for that.
  var mayWait: Bool { get set }

  /// Whether a picture was read whose times were not taken yet.
  var hasPicture: Bool { get }

  /// Reads a picture that continues the sequence being timed. It does not read one that resets POC and may have
  /// leading pictures, because that may need later pictures.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - rate: frames a second; nil if unknown.
  ///   - generation: how often parameter sets have changed: while it is the same, the SPS need not be compared.
  /// - Returns: whether it does continue it; if not, nothing was read.
  mutating func read(_ slice: Codec.SliceHeader, rate: Ratio?, generation: UInt64) -> Bool

  /// Reads a picture that may begin a sequence, for which later pictures must be read.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice.
  ///   - isContinued: whether this was called for the same picture before, and returned false.
  ///   - endsSequence: whether an end of sequence or stream follows the picture.
  ///   - rate: frames a second; nil if unknown.
  ///   - parameterSets: the parameter sets so far.
  ///   - generation: how often they have changed.
  ///   - bytes: the data, in Annex B, beginning with the picture.
  ///   - offset: the start of the next access unit in it.
  ///   - isComplete: whether not to wait for more data.
  /// - Returns: whether enough is known; else the picture waits for more data.
  mutating func read(
    _ slice: Codec.SliceHeader, isContinued: Bool, endsSequence: Bool, rate: Ratio?,
    parameterSets: borrowing Codec.ParameterSets, generation: UInt64, lookingAt bytes: Span<UInt8>, from offset: Int,
    isComplete: Bool
  ) -> Bool

  /// The times of the picture read last, once; nil if there is none, or no frame rate.
  mutating func takeTimes() -> PresentationTimes?

  /// The end of the last picture so far, in nanoseconds: the time of an access unit without a readable picture. Nil before
  /// the first picture.
  var endOfPictures: UInt64? { get }

  /// An end of sequence or stream follows the last picture.
  mutating func endSequence()

  /// Moves times so that `time` becomes `other`, both in nanoseconds.
  mutating func move(_ time: UInt64, to other: UInt64)
}

/// Presentation and decoding time of a picture, in nanoseconds from the start of the stream, and how long it is shown.
package struct PresentationTimes: Sendable, Hashable {
  /// When it is shown.
  package var presentation: UInt64
  /// When it is decoded, never later.
  package var decoding: UInt64
  /// How long it is shown, in nanoseconds: a frame's duration, or half of it for a field.
  package var duration: UInt64
}
