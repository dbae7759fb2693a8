// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Finds where access units begin (7.4.1.2.3 and 7.4.1.2.4).
  ///
  /// A small value without references. Feed it every NAL unit in order; it returns whether an access unit begins
  /// there. If slice headers cannot be read, a slice that begins with macroblock 0 begins an access unit. A slice
  /// from the middle may fit neither the current picture nor the next one. It is taken for a damaged slice of the
  /// current picture, so the others are not lost. The two fields of a frame are two access units, as in the
  /// Recommendation.
  public struct AccessUnitDetector: AccessUnitDetecting {
    /// The role of a NAL unit at the border of access units.
    public typealias Boundary = AccessUnitBoundary

    private var hasNALUnit = false
    /// A VCL NAL unit of the current access unit was seen, so that types 6 to 9 and so on begin the next one.
    private var hasPicture = false
    /// The current access unit has ended: an end of sequence or stream was seen.
    private var isClosed = false
    /// The first slice of the picture whose header can be read.
    private var last: SliceHeader?
    /// `first_mb_in_slice` of the picture's last slice so far.
    private var lastMacroblock: UInt32 = 0
    /// The colour planes whose macroblock 0 was seen, a bit each.
    private var planesBegun: UInt8 = 0

    /// Creates a detector that has seen nothing: the first NAL unit begins an access unit.
    public init() {}

    /// Starts over, as after a seek.
    public mutating func reset() { self = AccessUnitDetector() }

    /// Whether the current access unit has a slice of its primary picture.
    public var hasPrimaryPicture: Bool { hasPicture }

    /// Feeds a NAL unit, reading its slice header as far as needed.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit with its header. The first bytes of slices are enough.
    ///   - parameterSets: the parameter sets so far.
    /// - Returns: the boundary, and the slice header if it could be read.
    public mutating func feed(
      _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) -> (boundary: Boundary, slice: SliceHeader?) {
      guard nalUnit.count > 0 else { return (.continues, nil) }
      let type = NALUnitType(headerByte: nalUnit[0])
      guard type == .slice || type == .idrSlice || type == .slicePartitionA else { return (feed(type), nil) }
      do throws(BitstreamError) {
        let slice = try SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets)
        return (feed(slice), slice)
      } catch {
        let isFirst = SliceHeader.startsAtFirstMacroblock(nalUnit) ?? false
        return (feed(unreadableSlice: type, startsAtFirstMacroblock: isFirst), nil)
      }
    }

    /// Feeds a NAL unit that is no slice of a primary picture: anything but types 1, 2 and 5.
    public mutating func feed(_ type: NALUnitType) -> Boundary {
      switch type.rawValue {
      case 6...9, 15...18:
        return hasPicture || isClosed ? begin() : proceed()
      case 14:
        return hasPicture && !isClosed ? .followsNext : proceed(isClosed)
      case 10, 11:
        // They end the access unit that they are in (7.4.1.2.3).
        let boundary = proceed()
        isClosed = true
        return boundary
      case 20, 21:
        // A layer or view of the base picture in front, or of one that is missing.
        let boundary = proceed(isClosed)
        hasPicture = true
        return boundary
      default:
        return proceed(isClosed && type.isVCL)
      }
    }

    /// Feeds a slice of types 1, 2 and 5 whose header was read, at any depth.
    public mutating func feed(_ slice: SliceHeader) -> Boundary {
      // A redundant slice repeats a part of the primary picture before it.
      if slice.redundantPictureCount > 0, hasPicture, !isClosed { return .continues }
      let plane = UInt8(1) << (slice.colourPlaneID & 3)
      let isFirst = slice.firstMacroblock == 0
      if hasPicture, !isClosed {
        let isNew: Bool
        if let last {
          // Macroblock 0 twice: two pictures with the same header, as some encoders' IDR pictures have.
          isNew =
            Self.isFirstOfPicture(slice, after: last) && !isStray(slice, after: last)
            || (isFirst && planesBegun & plane != 0)
        } else {
          isNew = isFirst
        }
        if !isNew {
          if last == nil { last = slice }
          lastMacroblock = slice.firstMacroblock
          if isFirst { planesBegun |= plane }
          return .continues
        }
      }
      let boundary = hasPicture || isClosed ? begin() : proceed()
      hasPicture = true
      last = slice
      lastMacroblock = slice.firstMacroblock
      planesBegun = isFirst ? plane : 0
      return boundary
    }

    /// Feeds a slice whose header cannot be read.
    ///
    /// - Parameters:
    ///   - type: the NAL unit's.
    ///   - startsAtFirstMacroblock: whether `first_mb_in_slice` is 0.
    public mutating func feed(unreadableSlice type: NALUnitType, startsAtFirstMacroblock: Bool) -> Boundary {
      if hasPicture, !isClosed, !startsAtFirstMacroblock { return .continues }
      let boundary = hasPicture || isClosed ? begin() : proceed()
      hasPicture = true
      planesBegun = startsAtFirstMacroblock ? 1 : 0
      return boundary
    }

    /// Whether a slice is the first of a new primary coded picture: it differs from the last one of the picture before
    /// in one of these (7.4.1.2.4).
    public static func isFirstOfPicture(_ slice: SliceHeader, after last: SliceHeader) -> Bool {
      slice.frameNumber != last.frameNumber
        || slice.pictureParameterSetID != last.pictureParameterSetID
        || slice.sequenceParameterSetID != last.sequenceParameterSetID
        || slice.isField != last.isField
        || slice.isBottomField != last.isBottomField
        || slice.isReference != last.isReference
        || slice.isIDR != last.isIDR
        || slice.idrPictureID != last.idrPictureID
        || slice.pictureOrderCountType != last.pictureOrderCountType
        || slice.pictureOrderCountLSB != last.pictureOrderCountLSB
        || slice.deltaPictureOrderCountBottom != last.deltaPictureOrderCountBottom
        || slice.deltaPictureOrderCount0 != last.deltaPictureOrderCount0
        || slice.deltaPictureOrderCount1 != last.deltaPictureOrderCount1
    }

    /// Whether a slice whose header differs is damaged or of another stream, rather than the first one received of
    /// the next picture. If slices are in order, only loss makes a picture begin in its middle. The slice then goes
    /// back in macroblocks, or forward in frame numbers.
    private func isStray(_ slice: SliceHeader, after last: SliceHeader) -> Bool {
      !slice.allowsArbitraryOrder && slice.firstMacroblock > lastMacroblock && !Self.mayFollow(slice, last)
    }

    /// Whether `frame_num` and POC may be those of the next picture (7.4.3 and 8.2.1). Two pictures that nothing refers
    /// to may be taken for one: little is lost.
    private static func mayFollow(_ slice: SliceHeader, _ last: SliceHeader) -> Bool {
      if slice.isField, last.isField, slice.isBottomField != last.isBottomField { return true }
      let isNext: Bool
      if last.isReference {
        isNext = slice.frameNumber == last.frameNumber &+ 1 || (slice.frameNumber == 0 && last.frameNumber != 0)
      } else {
        isNext = slice.frameNumber == last.frameNumber && slice.isReference
      }
      return isNext && (slice.pictureOrderCountType != 0 || slice.pictureOrderCountLSB != last.pictureOrderCountLSB)
    }

    private mutating func begin() -> Boundary {
      self = AccessUnitDetector()
      hasNALUnit = true
      return .begins
    }

    private mutating func proceed(_ mustBegin: Bool = false) -> Boundary {
      if mustBegin || !hasNALUnit { return begin() }
      return .continues
    }
  }
}
