// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// How a picture was scanned, judged by the way it is coded.
  public enum PictureScan: Sendable, Hashable {
    /// Coded as a whole.
    case frame
    /// Coded in fields or in pairs of field and frame macroblocks (MBAFF), which nobody does without need.
    case fields(isTopFirst: Bool)

    /// - Parameters:
    ///   - slice: the picture's first slice; of two fields, the first.
    ///   - sps: what it is coded with.
    public init(_ slice: SliceHeader, sps: SequenceParameterSet) {
      if slice.isField {
        self = .fields(isTopFirst: !slice.isBottomField)
      } else if !sps.isFrameOnly && sps.isMacroblockAdaptiveFrameField {
        // The field with the lower picture order count comes first (8.2.1); of equal ones, the top one by custom.
        self = .fields(isTopFirst: slice.deltaPictureOrderCountBottom >= 0 && slice.deltaPictureOrderCount1 >= 0)
      } else {
        self = .frame
      }
    }
  }
}
