// SPDX-License-Identifier: MPL-2.0

extension AccessUnitRecord {
  /// The kinds of random access point.
  public enum Keyframe: UInt8, Sendable {
    /// No random access point.
    case none
    /// IDR picture.
    case idr
    /// CRA picture (H.265).
    case cra
    /// BLA picture (H.265).
    case bla
    /// A picture with a recovery point SEI message.
    case recoveryPoint
    /// All slices are I slices, in a stream of H.264 without recovery point SEI so far. Many encoders send such
    /// pictures to begin at and signal nothing.
    case intra

    var name: StaticString {
      switch self {
      case .none: "none"
      case .idr: "idr"
      case .cra: "cra"
      case .bla: "bla"
      case .recoveryPoint: "recovery"
      case .intra: "intra"
      }
    }
  }
}
