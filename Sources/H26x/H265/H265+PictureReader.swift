// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Reads the order of pictures in decoding order, and which two fields make a frame.
  public struct PictureReader: PictureReading {
    private var counter = PictureOrderCounter()
    private var openField: SliceSegmentHeader?

    /// Creates a reader as it is at the start of a bitstream.
    public init() {}

    /// What ``TimestampGenerator`` needs to know of the picture that this slice begins.
    public mutating func picture(
      _ slice: SliceSegmentHeader, _ sps: borrowing SequenceParameterSet
    ) -> TimestampGenerator.Picture {
      let count = counter.next(slice, sps: sps)
      let isSecond = openField.map { H265.isSecondField(slice, of: $0) } ?? false
      openField = slice.isField && !isSecond ? slice : nil
      return TimestampGenerator.Picture(
        order: count.picture, resetsPOC: count.resetsPOC, isField: slice.isField, isSecondField: isSecond)
    }

    /// A CRA picture behind the end of a sequence begins a new one.
    public mutating func endSequence() { counter.endSequence() }
  }
}
