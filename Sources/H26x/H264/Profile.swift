// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `profile_idc` with its constraint flags (A.2).
  public struct Profile: Sendable, Hashable {
    /// `profile_idc`.
    public let idc: UInt8

    /// The byte after it: `constraint_set0_flag` in the highest bit, `reserved_zero_2bits` in the lowest.
    public let constraintFlags: UInt8

    /// Creates a profile from the two bytes.
    public init(idc: UInt8, constraintFlags: UInt8) {
      self.idc = idc
      self.constraintFlags = constraintFlags
    }

    /// `constraint_setN_flag`.
    ///
    /// - Parameter set: N, 0 to 5.
    public func isConstrained(toSet set: Int) -> Bool {
      guard 0...5 ~= set else { return false }
      return constraintFlags & (0x80 >> UInt8(set)) != 0
    }

    /// Whether `constraint_set3_flag` turns level 1.1 into 1b (A.3.1); elsewhere `level_idc` 9 is 1b.
    package var marks1bByConstraint: Bool { idc == 66 || idc == 77 || idc == 88 }

    /// Whether `constraint_set4_flag` 1 means `frame_mbs_only_flag` 1 (7.4.2.1.1). With 118, 128 and 134 it means the
    /// constraints of a profile, elsewhere nothing.
    package var demandsFramesBySet4: Bool { [77, 88, 100, 110].contains(idc) }

    /// Whether `constraint_set5_flag` 1 means that there are no B slices (7.4.2.1.1). With 118 it means the constraints
    /// of a profile, elsewhere nothing.
    package var forbidsBSlicesBySet5: Bool { [77, 88, 100].contains(idc) }

    /// Whether `constraint_setN_flag` must be 0 (7.4.2.1.1), because it means nothing. The profiles of scalable
    /// streams give it meanings of their own (F.7.4.2.1.1), and reserve none.
    ///
    /// - Parameters:
    ///   - set: N.
    ///   - levelIDC: `level_idc`.
    package func reservesConstraint(_ set: Int, levelIDC: UInt8) -> Bool {
      guard idc != 83, idc != 86 else { return false }
      return switch set {
      case 3: marks1bByConstraint ? levelIDC != 11 : ![44, 100, 110, 122, 244].contains(idc)
      case 4: !demandsFramesBySet4 && ![118, 128, 134].contains(idc)
      case 5: !forbidsBSlicesBySet5 && idc != 118
      default: false
      }
    }

    /// Whether the SPS carries chroma format, bit depths and scaling matrices (7.3.2.1.1), and avcC its extension.
    public var hasHighSyntax: Bool {
      switch idc {
      case 44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 144, 244: true
      default: false
      }
    }

    /// The value of the caps field `profile`; nil for a profile that has none.
    public var name: String? {
      switch idc {
      case 66: isConstrained(toSet: 1) ? "constrained-baseline" : "baseline"
      case 77: "main"
      case 88: "extended"
      case 100:
        isConstrained(toSet: 4) ? (isConstrained(toSet: 5) ? "constrained-high" : "progressive-high") : "high"
      case 110: isConstrained(toSet: 3) ? "high-10-intra" : isConstrained(toSet: 4) ? "progressive-high-10" : "high-10"
      case 122: isConstrained(toSet: 3) ? "high-4:2:2-intra" : "high-4:2:2"
      case 244: isConstrained(toSet: 3) ? "high-4:4:4-intra" : "high-4:4:4"
      case 44: "cavlc-4:4:4-intra"
      case 118: "multiview-high"
      case 128: "stereo-high"
      case 83: isConstrained(toSet: 5) ? "scalable-constrained-baseline" : "scalable-baseline"
      case 86:
        isConstrained(toSet: 3)
          ? "scalable-high-intra" : isConstrained(toSet: 5) ? "scalable-constrained-high" : "scalable-high"
      default: nil
      }
    }

    /// Whether the slices of a picture may come in any order (A.2). In all other profiles the first one has macroblock
    /// 0.
    public var allowsArbitrarySliceOrder: Bool {
      switch idc {
      case 44, 77, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 144, 244: false
      case 66, 88: !isConstrained(toSet: 1)
      default: true
      }
    }

    /// Whether the profile has only intra pictures (A.2.8 to A.2.11): no reordering.
    public var isIntraOnly: Bool {
      switch idc {
      case 44: true
      case 86, 100, 110, 122, 244: isConstrained(toSet: 3)
      default: false
      }
    }

    /// Whether the profile has no B slices (A.2.1, A.2.8 to A.2.11).
    package var forbidsBSlices: Bool { idc == 66 || isIntraOnly }

    /// The other profiles whose decoders must decode this stream too (A.2), by their names in caps and in order of
    /// preference. The element h264parse offers the same list to a decoder that does not list the profile.
    public var compatibleProfiles: [String] { compatibleProfiles(viewCount: nil) }

    /// As ``compatibleProfiles``, for a multiview stream of `viewCount` views.
    public func compatibleProfiles(viewCount: Int?) -> [String] {
      let fromHigh10 = ["high-10", "high-4:2:2", "high-4:4:4"]
      let fromMain = ["main", "high"] + fromHigh10
      let intra = ["high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"]
      let isMain = isConstrained(toSet: 1)
      switch idc {
      case 88 where isConstrained(toSet: 0):
        return isMain ? ["constrained-baseline", "baseline"] + fromMain : ["baseline"]
      case 88: return isMain ? fromMain : []
      case 66: return isMain ? ["baseline"] + fromMain : ["extended"]
      case 77: return ["high"] + fromHigh10
      case 100: return isMain ? ["main"] + fromHigh10 : fromHigh10
      case 110 where isMain: return ["main", "high", "high-4:2:2", "high-4:4:4"]
      case 110: return isConstrained(toSet: 3) ? ["high-10"] + intra : ["high-4:2:2", "high-4:4:4"]
      case 122 where isMain: return ["main", "high", "high-10", "high-4:4:4"]
      case 122: return isConstrained(toSet: 3) ? intra : ["high-4:2:2", "high-4:4:4"]
      case 244 where isMain: return ["main", "high", "high-10", "high-4:2:2"]
      case 244: return isConstrained(toSet: 3) ? ["high-4:4:4"] : []
      case 118: return viewCount == 2 ? ["stereo-high", "multiview-high"] : ["multiview-high"]
      default: return []
      }
    }
  }
}
