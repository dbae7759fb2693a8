// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// The first 88 bits of `profile_tier_level()` (7.3.3): profile, tier and constraints.
  public struct Profile: Sendable, Hashable {
    /// `general_profile_space`, 0 to 3; other values than 0 are reserved.
    public var space: UInt8 = 0
    /// `general_tier_flag`: the High tier.
    public var isHighTier = false
    /// `general_profile_idc`, 0 to 31.
    public var idc: UInt8
    /// `general_profile_compatibility_flag[ j ]`, that of profile 0 in the highest bit.
    public var compatibilityFlags: UInt32
    /// The constraint flags.
    public var constraints: Constraints

    /// The 48 bits between compatibility flags and level, as they are sent: the first in bit 47.
    public struct Constraints: OptionSet, Sendable, Hashable {
      /// The 48 bits.
      public let rawValue: UInt64

      /// Creates a set from the 48 bits.
      public init(rawValue: UInt64) { self.rawValue = rawValue & 0xFFFF_FFFF_FFFF }

      /// `general_progressive_source_flag`.
      public static var progressiveSource: Self { Self(rawValue: 1 << 47) }
      /// `general_interlaced_source_flag`.
      public static var interlacedSource: Self { Self(rawValue: 1 << 46) }
      /// `general_non_packed_constraint_flag`.
      public static var nonPacked: Self { Self(rawValue: 1 << 45) }
      /// `general_frame_only_constraint_flag`.
      public static var frameOnly: Self { Self(rawValue: 1 << 44) }
      /// `general_max_12bit_constraint_flag`.
      public static var maximum12Bit: Self { Self(rawValue: 1 << 43) }
      /// `general_max_10bit_constraint_flag`.
      public static var maximum10Bit: Self { Self(rawValue: 1 << 42) }
      /// `general_max_8bit_constraint_flag`.
      public static var maximum8Bit: Self { Self(rawValue: 1 << 41) }
      /// `general_max_422chroma_constraint_flag`.
      public static var maximum422: Self { Self(rawValue: 1 << 40) }
      /// `general_max_420chroma_constraint_flag`.
      public static var maximum420: Self { Self(rawValue: 1 << 39) }
      /// `general_max_monochrome_constraint_flag`.
      public static var monochrome: Self { Self(rawValue: 1 << 38) }
      /// `general_intra_constraint_flag`.
      public static var intra: Self { Self(rawValue: 1 << 37) }
      /// `general_one_picture_only_constraint_flag`.
      public static var onePicture: Self { Self(rawValue: 1 << 36) }
      /// `general_lower_bit_rate_constraint_flag`.
      public static var lowerBitRate: Self { Self(rawValue: 1 << 35) }
      /// `general_max_14bit_constraint_flag`.
      public static var maximum14Bit: Self { Self(rawValue: 1 << 34) }

      static var depths: Self { [.maximum14Bit, .maximum12Bit, .maximum10Bit, .maximum8Bit] }
      static var chromas: Self { [.maximum422, .maximum420, .monochrome] }
    }

    /// Creates a profile with its own compatibility flag only.
    public init(idc: UInt8, isHighTier: Bool = false, constraints: Constraints = []) {
      self.idc = idc
      self.isHighTier = isHighTier
      self.constraints = constraints
      compatibilityFlags = idc < 32 ? 0x8000_0000 >> UInt32(idc) : 0
    }

    /// `general_profile_compatibility_flag[ idc ]`, or the profile itself.
    public func isCompatible(with idc: UInt8) -> Bool {
      self.idc == idc || (idc < 32 && compatibilityFlags & (0x8000_0000 >> UInt32(idc)) != 0)
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      space = try reader.u8(2, "general_profile_space")
      isHighTier = try reader.flag("general_tier_flag")
      idc = try reader.u8(5, "general_profile_idc")
      compatibilityFlags = 0
      for _ in 0..<32 {
        compatibilityFlags = compatibilityFlags << 1 | (try reader.u(1, "general_profile_compatibility_flag"))
      }
      var bits: UInt64 = 0
      for name in Self.constraintNames { bits = bits << 1 | UInt64(try reader.u(1, name)) }
      bits = bits << 32 | UInt64(try reader.u(32, "general_reserved_zero_33bits"))
      bits = bits << 1 | UInt64(try reader.u(1, "general_reserved_zero_33bits"))
      constraints = Constraints(rawValue: bits << 1 | UInt64(try reader.u(1, "general_inbld_flag")))
    }

    /// The first of the 48 bits; in profiles that have fewer of them, they are reserved.
    private static let constraintNames: [StaticString] = [
      "general_progressive_source_flag", "general_interlaced_source_flag", "general_non_packed_constraint_flag",
      "general_frame_only_constraint_flag", "general_max_12bit_constraint_flag", "general_max_10bit_constraint_flag",
      "general_max_8bit_constraint_flag", "general_max_422chroma_constraint_flag",
      "general_max_420chroma_constraint_flag", "general_max_monochrome_constraint_flag",
      "general_intra_constraint_flag", "general_one_picture_only_constraint_flag",
      "general_lower_bit_rate_constraint_flag", "general_max_14bit_constraint_flag",
    ]

    func write(to writer: inout BitWriter) {
      writer.u(2, UInt32(space))
      writer.flag(isHighTier)
      writer.u(5, UInt32(idc))
      writer.u(32, compatibilityFlags)
      writer.u(16, UInt32(truncatingIfNeeded: constraints.rawValue >> 32))
      writer.u(32, UInt32(truncatingIfNeeded: constraints.rawValue))
    }
  }
}
