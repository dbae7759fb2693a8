// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Reads the order of pictures in decoding order. A field is a picture like any other: the two of a frame need not be
  /// consecutive.
  public struct PictureReader: PictureReading {
    private var counter = PictureOrderCounter()

    /// Creates a reader for the start of a bitstream.
    public init() {}

    /// Returns the picture that begins with this slice, as ``TimestampGenerator`` needs it.
    public mutating func picture(
      _ slice: SliceSegmentHeader, _ sps: borrowing SequenceParameterSet
    ) -> TimestampGenerator.Picture {
      let count = counter.next(slice, sps: sps)
      var picture = TimestampGenerator.Picture(order: count.picture, resetsPOC: count.resetsPOC)
      picture.mayHaveLeadingPictures = count.resetsPOC && slice.nalUnitType.mayHaveLeadingPictures
      return picture
    }

    /// A sequence has ended: a CRA picture after it begins a new one.
    public mutating func endSequence() { counter.endSequence() }
  }
}
