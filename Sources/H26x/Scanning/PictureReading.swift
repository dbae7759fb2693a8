// SPDX-License-Identifier: MPL-2.0

/// Reads the output order of pictures, in decoding order, for ``TimestampGenerator``.
public protocol PictureReading: Sendable {
  /// The slice headers that it reads.
  associatedtype SliceHeader: SliceHeaderSyntax
  /// The SPS that POC depends on.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates a reader for the start of a stream.
  init()
  /// Returns the picture that begins with this slice, as the generator needs it.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice, at depth ``SliceHeaderDepth/referenceMarking`` if it
  ///     ``SliceHeaderSyntax/mayResetPOC``.
  ///   - sps: its SPS.
  mutating func picture(_ slice: SliceHeader, _ sps: borrowing SequenceParameterSet) -> TimestampGenerator.Picture
  /// An end of sequence or stream follows the last picture (``AccessUnitContents/endOfSequence``).
  mutating func endSequence()
}
