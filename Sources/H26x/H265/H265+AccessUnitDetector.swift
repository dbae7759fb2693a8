// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Finds where access units begin (7.4.2.4.4 and 7.4.2.4.5).
  ///
  /// A small value without references. Feed it every NAL unit in order; it returns whether an access unit begins
  /// there. Pictures are distinguished by `first_slice_segment_in_pic_flag` or, if that segment was lost, by what all
  /// segments of a picture have in common. Other layers belong to the picture of the base layer before them. The two
  /// fields of a frame are two access units, as in the Recommendation.
  public struct AccessUnitDetector: AccessUnitDetecting {
    private var hasNALUnit = false
    /// A VCL NAL unit of the current access unit was seen, so that parameter sets and so on begin the next one.
    private var hasPicture = false
    /// The current access unit has ended: an end of sequence or bitstream was seen.
    private var isClosed = false
    /// The first readable slice segment of the base layer's picture that is not dependent.
    private var last: SliceSegmentHeader?
    /// `slice_segment_address` of the picture's last slice segment so far.
    private var lastAddress: UInt32 = 0
    /// The layers whose first slice segment was seen, a bit each.
    private var layersBegun: UInt64 = 0

    /// Creates a detector that has seen nothing: the first NAL unit begins an access unit.
    public init() {}

    /// Starts over, as after a seek.
    public mutating func reset() { self = AccessUnitDetector() }

    /// Whether the current access unit has a slice segment.
    public var hasPrimaryPicture: Bool { hasPicture }

    /// Feeds a NAL unit, reading its slice segment header as far as needed.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit with its header. The first bytes of slice segments are enough.
    ///   - parameterSets: the parameter sets so far.
    /// - Returns: the boundary, and the slice segment header if it is of the base layer and could be read.
    public mutating func feed(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) -> (boundary: AccessUnitBoundary, slice: SliceSegmentHeader?) {
      guard nalUnit.count > 1 else { return (.continues, nil) }
      let type = NALUnitType(headerByte: nalUnit[0])
      let layerID = (nalUnit[0] & 1) << 5 | nalUnit[1] >> 3
      let isFirst = SliceSegmentHeader.startsPicture(nalUnit) ?? false
      guard type.isVCL else { return (feed(type, layerID: layerID), nil) }
      guard layerID == 0 else { return (feed(layerID: layerID, isFirst: isFirst), nil) }
      guard type.isSlice else { return (feed(unreadableSlice: type, isFirst: isFirst), nil) }
      do throws(BitstreamError) {
        let slice = try SliceSegmentHeader(nalUnit: nalUnit, parameterSets: parameterSets)
        return (feed(slice), slice)
      } catch {
        return (feed(unreadableSlice: type, isFirst: isFirst), nil)
      }
    }

    /// Feeds a NAL unit that is no slice segment: types 32 and up.
    public mutating func feed(_ type: NALUnitType, layerID: UInt8 = 0) -> AccessUnitBoundary {
      switch type.rawValue {
      case 32...35, 39, 41...44, 48...55:
        // Those of other layers are between the pictures of one access unit (F.7.4.2.4.4).
        guard layerID == 0 else { return proceed() }
        return hasPicture || isClosed ? begin() : proceed()
      case 36, 37:
        let boundary = proceed()
        // The end of another layer's sequence does not end the base layer's.
        if layerID == 0 { isClosed = true }
        return boundary
      default:
        return proceed()
      }
    }

    /// Feeds a slice segment of the base layer whose header was read, at any depth.
    public mutating func feed(_ slice: SliceSegmentHeader) -> AccessUnitBoundary {
      if layersBegun & 1 != 0, !isClosed, !isFirstOfPicture(slice) {
        if last == nil, !slice.isDependent { last = slice }
        lastAddress = slice.segmentAddress
        return .continues
      }
      let boundary = hasPicture || isClosed ? begin() : proceed()
      hasPicture = true
      layersBegun |= 1
      last = slice.isDependent ? nil : slice
      lastAddress = slice.segmentAddress
      return boundary
    }

    /// Feeds a slice segment of the base layer whose header cannot be read.
    ///
    /// - Parameters:
    ///   - type: the NAL unit's.
    ///   - isFirst: `first_slice_segment_in_pic_flag`.
    public mutating func feed(unreadableSlice type: NALUnitType, isFirst: Bool) -> AccessUnitBoundary {
      if layersBegun & 1 != 0, !isClosed, !isFirst { return .continues }
      let boundary = hasPicture || isClosed ? begin() : proceed()
      hasPicture = true
      layersBegun |= 1
      return boundary
    }

    /// Feeds a slice segment of another layer, whose base picture may be missing.
    private mutating func feed(layerID: UInt8, isFirst: Bool) -> AccessUnitBoundary {
      let layer = UInt64(1) << UInt64(layerID & 63)
      let isNew = isClosed || (isFirst && layersBegun & layer != 0)
      let boundary = isNew ? begin() : proceed()
      hasPicture = true
      layersBegun |= layer
      return boundary
    }

    /// Whether a slice segment of the base layer begins another picture.
    private func isFirstOfPicture(_ slice: SliceSegmentHeader) -> Bool {
      if slice.isFirstInPicture { return true }
      // Only loss makes a picture begin in its middle.
      guard let last else { return false }
      if slice.isDependent {
        return slice.segmentAddress <= lastAddress && !Self.mayShareType(slice, last)
      }
      guard slice.pictureOrderCountLSB != last.pictureOrderCountLSB || !Self.mayShareType(slice, last) else {
        return false
      }
      // A later segment with another POC is more likely damaged, unless the POC is near.
      return slice.segmentAddress <= lastAddress || Self.isNear(slice, last)
    }

    /// All slice segments of a picture are of one type and temporal sub-layer (7.4.2.2).
    private static func mayShareType(_ slice: SliceSegmentHeader, _ last: SliceSegmentHeader) -> Bool {
      slice.nalUnitType == last.nalUnitType && slice.temporalID == last.temporalID
    }

    /// Whether the low bits of two POCs differ no more than those of pictures in one group.
    private static func isNear(_ slice: SliceSegmentHeader, _ last: SliceSegmentHeader) -> Bool {
      guard let count = slice.pictureOrderCountLSB, let before = last.pictureOrderCountLSB else { return false }
      return count != before && (count > before ? count - before : before - count) <= 16
    }

    private mutating func begin() -> AccessUnitBoundary {
      self = AccessUnitDetector()
      hasNALUnit = true
      return .begins
    }

    private mutating func proceed() -> AccessUnitBoundary {
      if !hasNALUnit { return begin() }
      return .continues
    }
  }
}
