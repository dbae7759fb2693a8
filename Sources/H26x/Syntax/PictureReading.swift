// SPDX-License-Identifier: MPL-2.0

/// Reads where pictures stand in output order, in decoding order, as ``TimestampGenerator`` needs it.
public protocol PictureReading: Sendable {
  /// What it reads.
  associatedtype SliceHeader: SliceHeaderSyntax
  /// What picture order counts hang on.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates a reader as it is at the start of a stream.
  init()
  /// What the generator needs to know of the picture that this slice begins.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice, read to ``SliceHeaderDepth/referenceMarking`` where it
  ///     ``SliceHeaderSyntax/mayResetPOC``.
  ///   - sps: the SPS it uses.
  mutating func picture(_ slice: SliceHeader, _ sps: borrowing SequenceParameterSet) -> TimestampGenerator.Picture
  /// Takes note of an end of sequence or stream behind the picture before
  /// (``AccessUnitContents/endOfSequence``).
  mutating func endSequence()
}
