// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The slices of an H.264 access unit that are out of order: which slices libavcodec must not get, and whether these,
/// or the order, damage the picture.
struct H264SliceOrder {
  /// Repeated slices, and first slices of a picture that follow another of its slices. libavcodec would decode
  /// repeated slices into the finished picture. At a first slice it would end the picture and begin a second in the
  /// same access unit. In IDR pictures it would also print a message to stderr that no setting of a codec context
  /// silences.
  private(set) var withheld: [PacketPool.Patch] = []
  /// Slices came again with different bytes, or came in an order that the profile or libavcodec does not allow.
  private(set) var isDamaged = false

  /// The picture that a slice belongs to. An access unit may hold both fields, each color plane has slices of its
  /// own, and slices of another picture may be present by mistake.
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
      // Redundant slices may repeat others. libavcodec reports unreadable slices.
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
