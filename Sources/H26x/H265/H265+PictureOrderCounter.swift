// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// A picture's position in output order (8.3.1), within the coded video sequence since the last IRAP picture that
  /// began one.
  public struct PictureOrderCount: Sendable, Hashable {
    /// `PicOrderCntVal`.
    public let picture: Int32
    /// `NoRaslOutputFlag` of an IRAP picture: it begins a coded video sequence and a new sequence of counts. All
    /// pictures before it in decoding order are output before it.
    public let resetsPOC: Bool
    /// Whether the picture is a RASL picture of a CRA or BLA picture that began a sequence: its references are missing.
    public let isSkipped: Bool
  }

  /// Derives picture order counts, picture by picture in decoding order (8.3.1).
  ///
  /// A plain value. Arithmetic wraps if a bad stream exceeds the legal range.
  public struct PictureOrderCounter: Sendable {
    private var previous: Int32 = 0
    /// The next IRAP picture begins a coded video sequence.
    private var isAtStart = true
    /// The last IRAP picture began a coded video sequence, so that its RASL pictures are skipped (8.1.3).
    private var skipsRASL = true

    /// Creates a counter for the start of a bitstream.
    public init() {}

    /// An end of sequence or bitstream follows the last picture: a CRA picture after it begins a coded video sequence,
    /// as at the start.
    public mutating func endSequence() { isAtStart = true }

    /// The picture order count of the next picture.
    ///
    /// - Parameters:
    ///   - slice: the first slice segment of the picture.
    ///   - sps: its SPS.
    public mutating func next(_ slice: SliceSegmentHeader, sps: borrowing SequenceParameterSet) -> PictureOrderCount {
      next(slice, log2Maximum: sps.log2MaximumPictureOrderCount)
    }

    /// The picture order count of the next picture, whose SPS has this `log2_max_pic_order_cnt_lsb_minus4` + 4.
    public mutating func next(_ slice: SliceSegmentHeader, log2Maximum: UInt8) -> PictureOrderCount {
      let type = slice.nalUnitType
      let resetsPOC = type.isIRAP && (isAtStart || type.isIDR || type.isBLA)
      if type.isIRAP {
        // An IDR picture has no RASL pictures (7.4.2.2): one after it has a damaged type, and its references may be
        // there.
        skipsRASL = resetsPOC && !type.isIDR
        isAtStart = false
      }
      let maximum = Int32(1) << Int32(min(log2Maximum, 16))
      let lsb = Int32(truncatingIfNeeded: slice.pictureOrderCountLSB ?? 0)
      var count = lsb
      if !resetsPOC {
        let previousLSB = previous & (maximum - 1)
        var msb = previous &- previousLSB
        if lsb < previousLSB, previousLSB - lsb >= maximum / 2 {
          msb = msb &+ maximum
        } else if lsb > previousLSB, lsb - previousLSB > maximum / 2 {
          msb = msb &- maximum
        }
        count = msb &+ lsb
      }
      // prevTid0Pic: no picture counts from one that may be missing.
      if slice.temporalID == 0, !type.isLeading, !type.isSubLayerNonReference { previous = count }
      return PictureOrderCount(picture: count, resetsPOC: resetsPOC, isSkipped: type.isRASL && skipsRASL)
    }
  }

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
