// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// A picture's position in output order (8.2.1), within the coded video sequence since the last IDR picture or
  /// `memory_management_control_operation` 5.
  public struct PictureOrderCount: Sendable, Hashable {
    /// `TopFieldOrderCnt`; nil for a bottom field.
    public let top: Int32?
    /// `BottomFieldOrderCnt`; nil for a top field.
    public let bottom: Int32?
    /// Whether the picture begins a new sequence of counts: IDR, or MMCO 5. All pictures before it in decoding order
    /// are output before it.
    public let resetsPOC: Bool

    /// `PicOrderCnt()` of the frame or field: the smaller of the two.
    public var picture: Int32 {
      switch (top, bottom) {
      case (let top?, let bottom?): min(top, bottom)
      case (let top?, nil): top
      case (nil, let bottom?): bottom
      case (nil, nil): 0
      }
    }
  }

  /// Derives picture order counts, picture by picture in decoding order (8.2.1).
  ///
  /// A plain value. Arithmetic wraps if a bad stream exceeds the legal range.
  public struct PictureOrderCounter: Sendable {
    private var previousMSB: Int32 = 0
    private var previousLSB: Int32 = 0
    private var previousFrameNumber: UInt32 = 0
    private var previousFrameNumberOffset: UInt32 = 0

    /// Creates a counter for a stream that begins with an IDR picture.
    public init() {}

    /// The picture order count of the next picture.
    ///
    /// - Parameters:
    ///   - slice: the first slice of the picture. For a reference picture at depth
    ///     ``SliceHeaderDepth/referenceMarking``, or MMCO 5 is missed.
    ///   - sps: its SPS.
    public mutating func next(_ slice: SliceHeader, sps: borrowing SequenceParameterSet) -> PictureOrderCount {
      if slice.isIDR {
        (previousMSB, previousLSB) = (0, 0)
        (previousFrameNumber, previousFrameNumberOffset) = (0, 0)
      }
      let counts: (top: Int32, bottom: Int32)
      switch sps.pictureOrderCountType {
      case .leastSignificantBits(let log2Maximum): counts = type0(slice, log2Maximum: log2Maximum)
      case .cycle(let cycle): counts = type1(slice, cycle, maximum: 1 << UInt32(sps.log2MaximumFrameNumber & 31))
      case .decodingOrder: counts = type2(slice, maximum: 1 << UInt32(sps.log2MaximumFrameNumber & 31))
      }
      return finish(slice, counts)
    }

    /// 8.2.1.1
    private mutating func type0(_ slice: SliceHeader, log2Maximum: UInt8) -> (top: Int32, bottom: Int32) {
      let maximum = Int32(1) << Int32(log2Maximum & 31)
      let lsb = Int32(truncatingIfNeeded: slice.pictureOrderCountLSB)
      var msb = previousMSB
      if lsb < previousLSB, previousLSB &- lsb >= maximum / 2 {
        msb = previousMSB &+ maximum
      } else if lsb > previousLSB, lsb &- previousLSB > maximum / 2 {
        msb = previousMSB &- maximum
      }
      if slice.isReference { (previousMSB, previousLSB) = (msb, lsb) }
      let top = msb &+ lsb
      return (top, slice.isField ? top : top &+ slice.deltaPictureOrderCountBottom)
    }

    /// 8.2.1.2
    private mutating func type1(
      _ slice: SliceHeader, _ cycle: SequenceParameterSet.Cycle, maximum: UInt32
    ) -> (top: Int32, bottom: Int32) {
      let offset = frameNumberOffset(slice, maximum: maximum)
      let offsets = cycle.offsetsForReferenceFrames
      var frame = offsets.isEmpty ? 0 : Int64(offset) + Int64(slice.frameNumber)
      if !slice.isReference, frame > 0 { frame -= 1 }
      var expected: Int64 = 0
      if frame > 0 {
        // At most 255 addends of 31 bits, and fewer than 2^33 cycles: the product wraps only in an absurd stream.
        let sum = offsets.reduce(into: Int64(0)) { $0 += Int64($1) }
        let count = Int64(offsets.count)
        expected = ((frame - 1) / count) &* sum
        for index in 0...Int((frame - 1) % count) { expected &+= Int64(offsets[index]) }
      }
      if !slice.isReference { expected &+= Int64(cycle.offsetForNonReferencePicture) }
      let base = Int32(truncatingIfNeeded: expected)
      let top = base &+ slice.deltaPictureOrderCount0
      if slice.isField {
        return (top, base &+ cycle.offsetForTopToBottomField &+ slice.deltaPictureOrderCount0)
      }
      return (top, top &+ cycle.offsetForTopToBottomField &+ slice.deltaPictureOrderCount1)
    }

    /// 8.2.1.3
    private mutating func type2(_ slice: SliceHeader, maximum: UInt32) -> (top: Int32, bottom: Int32) {
      let offset = frameNumberOffset(slice, maximum: maximum)
      let twice = Int32(truncatingIfNeeded: 2 &* (Int64(offset) + Int64(slice.frameNumber)))
      let count = slice.isIDR ? 0 : slice.isReference ? twice : twice &- 1
      return (count, count)
    }

    private mutating func frameNumberOffset(_ slice: SliceHeader, maximum: UInt32) -> UInt32 {
      let wrapped = !slice.isIDR && previousFrameNumber > slice.frameNumber
      let offset = wrapped ? previousFrameNumberOffset &+ maximum : previousFrameNumberOffset
      previousFrameNumber = slice.frameNumber
      previousFrameNumberOffset = offset
      return offset
    }

    private mutating func finish(_ slice: SliceHeader, _ counts: (top: Int32, bottom: Int32)) -> PictureOrderCount {
      var (top, bottom) = counts
      let isReset = slice.resetsPictureOrderCount
      if isReset {
        // tempPicOrderCnt is subtracted after the picture is decoded (8.2.1): POC then counts from 0.
        let least = slice.isField ? (slice.isBottomField ? bottom : top) : min(top, bottom)
        top = top &- least
        bottom = bottom &- least
        (previousMSB, previousLSB) = (0, slice.isBottomField ? 0 : top)
        (previousFrameNumber, previousFrameNumberOffset) = (0, 0)
      }
      return PictureOrderCount(
        top: slice.isField && slice.isBottomField ? nil : top,
        bottom: slice.isField && !slice.isBottomField ? nil : bottom, resetsPOC: slice.isIDR || isReset)
    }
  }

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
