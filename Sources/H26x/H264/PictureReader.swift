// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Reads the order of pictures in decoding order, and which two fields make a frame.
  public struct PictureReader: PictureReading {
    private var counter = PictureOrderCounter()
    private var fields = FieldPairing<H264>()

    /// Creates a reader for a stream that begins with an IDR picture.
    public init() {}

    /// Returns the picture that begins with this slice, as ``TimestampGenerator`` needs it.
    public mutating func picture(
      _ slice: SliceHeader, _ sps: borrowing SequenceParameterSet
    ) -> TimestampGenerator.Picture {
      let count = counter.next(slice, sps: sps)
      var picture = TimestampGenerator.Picture(
        order: count.picture, resetsPOC: count.resetsPOC, isField: slice.isField, isSecondField: fields.isSecond(slice))
      picture.mayHaveLeadingPictures = count.resetsPOC && !picture.isSecondField && !sps.followsDecodingOrder
      return picture
    }

    /// Does nothing: an IDR picture follows, which resets POC.
    public mutating func endSequence() {}
  }
}
