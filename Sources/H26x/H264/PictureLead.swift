// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The numbers of encoded pictures that lead up to a copied picture, which is no IDR picture and keeps its own.
  ///
  /// The encoded pictures are an IDR picture, and P pictures that refer to earlier ones. All of them are references, and
  /// are shown in front of the copied picture and of those behind it. The SPS must allow gaps in `frame_num`, which
  /// follow the last one.
  package struct PictureLead: Sendable, Hashable {
    /// `frame_num` and the picture order count of an encoded picture.
    package struct Numbers: Sendable, Hashable {
      /// `frame_num`.
      package var frameNumber: UInt32
      /// The syntax of the picture order count.
      package var pictureOrder: SliceHeaderValues.PictureOrder

      /// Creates numbers.
      package init(frameNumber: UInt32, pictureOrder: SliceHeaderValues.PictureOrder) {
        (self.frameNumber, self.pictureOrder) = (frameNumber, pictureOrder)
      }
    }

    /// Of the encoded pictures, in decoding order.
    package private(set) var numbers: [Numbers] = []

    /// Finds numbers.
    ///
    /// The PPS of the encoded pictures must have `delta_pic_order_cnt_bottom` if `pic_order_cnt_type` is 0.
    ///
    /// - Parameters:
    ///   - count: of the encoded pictures.
    ///   - slice: the first slice of the copied picture.
    ///   - sps: the SPS of all of them.
    ///   - isTopFieldFirst: the order of fields; nil for progressive pictures.
    /// - Returns: nil if there are none, or `pic_order_cnt_type` is 1.
    package init?(count: Int, to slice: SliceHeader, under sps: SequenceParameterSet, isTopFieldFirst: Bool?) {
      let mask = UInt32(1) << UInt32(sps.log2MaximumFrameNumber & 31) - 1
      func frameNumber(_ place: Int) -> UInt32 { UInt32(truncatingIfNeeded: place) & mask }
      // Consecutive reference frames have different numbers (7.4.3).
      guard count > 0, slice.frameNumber != frameNumber(count - 1) else { return nil }
      switch sps.pictureOrderCountType {
      case .cycle: return nil
      // The order follows frame_num.
      case .decodingOrder:
        numbers = (0..<count).map { Numbers(frameNumber: frameNumber($0), pictureOrder: .decodingOrder) }
      case .leastSignificantBits(let log2Maximum):
        let gap = (slice.frameNumber &- frameNumber(count)) & mask
        let orders = Self.orders(
          count, to: slice, maximum: Int64(1) << Int64(log2Maximum & 31),
          gap: min(Int64(gap), Int64(sps.maximumReferenceFrames)), isTopFieldFirst: isTopFieldFirst)
        guard let orders else { return nil }
        numbers = orders.enumerated().map { Numbers(frameNumber: frameNumber($0), pictureOrder: $1) }
      }
    }

    /// Order counts from that of an IDR picture, 0, to that of the copied picture (8.2.1.1).
    ///
    /// - Parameters:
    ///   - maximum: MaxPicOrderCntLsb. Counts may ascend by half of it.
    ///   - gap: frames that decoders insert in front of the copied picture.
    private static func orders(
      _ count: Int, to slice: SliceHeader, maximum: Int64, gap: Int64, isTopFieldFirst: Bool?
    ) -> [SliceHeaderValues.PictureOrder]? {
      let goal = Int64(slice.pictureOrderCountLSB) + min(0, Int64(slice.deltaPictureOrderCountBottom))
      // libavcodec gives inserted frames order counts, 2 apart. They must not be those of copied pictures.
      var steps = [Int64](repeating: 2, count: count - 1) + [2 * gap + 2]
      guard let last = steps.last, last <= maximum / 2 else { return nil }
      var rest = (goal - 2 * Int64(count - 1) - last) % maximum
      if rest < 0 { rest += maximum }
      for place in steps.indices.reversed() where rest > 0 {
        let more = min(rest, maximum / 2 - steps[place])
        steps[place] += more
        rest -= more
      }
      // Steps that do not lead far enough begin with the later field of the IDR picture, whose earlier one has the order
      // count 0. Its sign is sent, so that must be the bottom field. The top field's count is one step at most.
      let top: Int64 = isTopFieldFirst == false ? 1 : 0
      guard rest == 0 || isTopFieldFirst != true && rest + top <= maximum / 2 else { return nil }
      let isBottomLater: Int64 = isTopFieldFirst == true ? 1 : 0
      var order = rest
      return steps.enumerated().map { place, step in
        defer { order += step }
        let delta = place == 0 && rest > 0 ? -(rest + top) : isBottomLater - top
        return .leastSignificantBits(
          UInt32(truncatingIfNeeded: (order + top) % maximum), deltaBottom: Int32(truncatingIfNeeded: delta))
      }
    }
  }
}
