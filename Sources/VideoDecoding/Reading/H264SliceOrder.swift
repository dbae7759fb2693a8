// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The slices of an H.264 access unit in which they do not follow one another: which of them libavcodec must not get,
/// and whether that, or their order, damages the picture.
struct H264SliceOrder {
  /// Slices that came before, and first slices of a picture that stand behind another one. libavcodec would decode the
  /// former into the finished picture. At the latter it would end the picture and begin a second one in the same access
  /// unit, in IDR pictures with a message on stderr that no setting of a codec context silences.
  private(set) var withheld: [PacketPool.Patch] = []
  /// A slice came twice, and not as the same bytes, or where the profile does not allow it.
  private(set) var isDamaged = false

  /// Which picture a slice belongs to: an access unit may hold both fields, each colour plane has slices of its own,
  /// and slices of another picture may have strayed in.
  private struct Picture: Hashable {
    let frameNumber: UInt32
    let pictureOrderCountLSB: UInt32
    let isBottomField: Bool
    let colourPlaneID: UInt8

    init(_ slice: H264.SliceHeader) {
      frameNumber = slice.frameNumber
      pictureOrderCountLSB = slice.pictureOrderCountLSB
      isBottomField = slice.isBottomField
      colourPlaneID = slice.colourPlaneID
    }
  }

  init(_ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ sets: borrowing H264.ParameterSets) {
    /// The slices so far, by their first macroblocks.
    var slices: [Picture: [UInt32: Range<Int>]] = [:]
    var last: [Picture: UInt32] = [:]
    for range in packaging.nalUnits(of: accessUnit) {
      let nalUnit = accessUnit.extracting(range)
      // Redundant slices repeat others by right. libavcodec reports those that cannot be read.
      guard H264.role(of: nalUnit) == .slice,
        let slice = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets), !slice.isRedundant
      else { continue }
      let (picture, first) = (Picture(slice), slice.firstMacroblock)
      if let earlier = slices[picture]?[first] {
        withhold(range)
        if !isEqual(nalUnit, accessUnit.extracting(earlier)) { isDamaged = true }
        continue
      }
      slices[picture, default: [:]][first] = range
      if let last = last[picture], first < last {
        if !slice.allowsArbitraryOrder { isDamaged = true }
        if first == 0 {
          withhold(range)
          isDamaged = true
        }
      }
      last[picture] = first
    }
  }

  private mutating func withhold(_ range: Range<Int>) {
    withheld.append(PacketPool.Patch(offset: range.lowerBound, byte: H264.fillerHeader))
  }

  private func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
  }
}
