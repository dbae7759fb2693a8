// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSetExtension {
  /// How auxiliary samples become opacity (7.4.2.1.2).
  public struct Alpha: Sendable, Hashable {
    /// `bit_depth_aux_minus8` + 8, 8 to 12.
    public var bitDepth: UInt8
    /// `alpha_incr_flag`.
    public var isIncremented: Bool
    /// `alpha_opaque_value`.
    public var opaqueValue: UInt16
    /// `alpha_transparent_value`.
    public var transparentValue: UInt16
  }
}
