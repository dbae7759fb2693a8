// SPDX-License-Identifier: MPL-2.0

extension H264.PictureParameterSet.SliceGroups {
  /// Most map units of a picture that this library accepts.
  private static var maximumMapUnits: UInt32 {
    H264.SequenceParameterSet.maximumSideInMacroblocks * H264.SequenceParameterSet.maximumSideInMacroblocks
  }

  /// Bits of a `slice_group_id`: Ceil(Log2(count)).
  private var idLength: Int { count > 4 ? 3 : count > 2 ? 2 : 1 }

  /// Bits of `slice_group_change_cycle` (7.4.3): Ceil(Log2(PicSizeInMapUnits ÷ SliceGroupChangeRate + 1)); 0 for types
  /// without one.
  func changeCycleLength(mapUnits: Int) -> Int {
    guard case .evolving(_, _, let rateMinus1) = map, mapUnits > 0 else { return 0 }
    // The quotient is not rounded: the smallest length with 2^length ≥ mapUnits ÷ rate + 1.
    let rate = Int(rateMinus1) + 1
    let cycles = (mapUnits - 1) / rate + 1
    return Int.bitWidth - cycles.leadingZeroBitCount
  }

  init(_ reader: inout BitReader, count: UInt8) throws(BitstreamError) {
    self.count = count
    let range = 0...(Self.maximumMapUnits - 1)
    let type = try reader.ue8(in: 0...6, "slice_group_map_type")
    switch type {
    case 0:
      var lengths: [UInt32] = []
      for _ in 0..<count { lengths.append(try reader.ue(in: range, "run_length_minus1")) }
      map = .interleaved(runLengthsMinus1: lengths)
    case 1:
      map = .dispersed
    case 2:
      var rectangles: [Rectangle] = []
      for _ in 1..<count {
        rectangles.append(
          Rectangle(
            topLeft: try reader.ue(in: range, "top_left"), bottomRight: try reader.ue(in: range, "bottom_right")))
      }
      map = .foreground(rectangles)
    case 3...5:
      let isReversed = try reader.flag("slice_group_change_direction_flag")
      map = .evolving(
        type: type, isDirectionReversed: isReversed,
        changeRateMinus1: try reader.ue(in: range, "slice_group_change_rate_minus1"))
    default:
      map = .dispersed
      let units = Int(try reader.ue(in: range, "pic_size_in_map_units_minus1")) + 1
      // Reserve nothing that the data cannot fill.
      guard units * idLength <= reader.maximumRemainingBits else {
        throw BitstreamError(.truncated, "slice_group_id", bitOffset: reader.bitOffset)
      }
      var ids: [UInt8] = []
      ids.reserveCapacity(units)
      for _ in 0..<units { ids.append(try reader.u8(idLength, "slice_group_id")) }
      map = .explicit(ids)
    }
  }

  func write(to writer: inout BitWriter) {
    writer.ue(UInt32(max(2, count) - 1))
    switch map {
    case .interleaved(let lengths):
      writer.ue(0)
      for length in lengths { writer.ue(length) }
    case .dispersed:
      writer.ue(1)
    case .foreground(let rectangles):
      writer.ue(2)
      for rectangle in rectangles {
        writer.ue(rectangle.topLeft)
        writer.ue(rectangle.bottomRight)
      }
    case .evolving(let type, let isReversed, let rate):
      writer.ue(UInt32(type))
      writer.flag(isReversed)
      writer.ue(rate)
    case .explicit(let ids):
      writer.ue(6)
      writer.ue(UInt32(clamping: max(1, ids.count) - 1))
      for id in ids { writer.u(idLength, UInt32(id)) }
    }
  }
}
