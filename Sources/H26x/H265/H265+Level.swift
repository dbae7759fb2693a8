// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// A level and tier (A.4): limits of picture size, rate and memory.
  public struct Level: Sendable, Hashable {
    /// `general_level_idc`: 30 times the level's number.
    public let idc: UInt8
    /// `general_tier_flag`: the High tier, which allows higher bit rates.
    public let isHighTier: Bool

    /// Creates a level.
    public init(idc: UInt8, isHighTier: Bool = false) {
      self.idc = idc
      self.isHighTier = isHighTier
    }

    /// The name in GStreamer's `level` field such as "4.1", nil for a number that is no level.
    public var name: String? {
      switch idc {
      case 30, 60, 90, 120, 150, 180, 210: "\(idc / 30)"
      case 63, 93, 123, 153, 156, 183, 186, 189, 213, 216: "\(idc / 30).\(idc % 30 / 3)"
      default: nil
      }
    }

    /// The name in GStreamer's `tier` field.
    public var tierName: String { isHighTier ? "high" : "main" }

    /// `MaxLumaPs` (Table A.8): luma samples in a picture. Unknown levels get the highest.
    public var maximumLumaPictureSize: Int {
      switch idc {
      case 30: 36_864
      case 60: 122_880
      case 63: 245_760
      case 90: 552_960
      case 93: 983_040
      case 120, 123: 2_228_224
      case 150, 153, 156: 8_912_896
      case 180, 183, 186: 35_651_584
      case 189: 80_216_064
      default: 142_606_336
      }
    }

    /// `MaxLumaSr` (Table A.9): luma samples a second. Unknown levels get the highest.
    public var maximumLumaSampleRate: Int64 {
      switch idc {
      case 30: 552_960
      case 60: 3_686_400
      case 63: 7_372_800
      case 90: 16_588_800
      case 93: 33_177_600
      case 120: 66_846_720
      case 123: 133_693_440
      case 150: 267_386_880
      case 153: 534_773_760
      case 156, 180: 1_069_547_520
      case 183: 2_139_095_040
      case 186: 4_278_190_080
      case 189, 210: 4_812_963_840
      case 213: 8_556_380_160
      default: 17_112_760_320
      }
    }

    /// `MaxDpbSize` (A.4.2): pictures that the decoded picture buffer holds, 6 to 16, at this picture size.
    ///
    /// - Parameters:
    ///   - size: luma samples in a picture, 1 or more.
    ///   - isScreenContent: for the screen content coding profiles (`general_profile_idc` 9 and 11), which hold 7 to 16,
    ///     as the current picture may be a reference too.
    public func maximumDecodedPictures(lumaPictureSize size: Int, isScreenContent: Bool = false) -> Int {
      let maximum = maximumLumaPictureSize
      // maxDpbPicBuf; in the multilayer profiles it counts for each layer.
      let pictures = isScreenContent ? 7 : 6
      return switch max(1, size) {
      case ...(maximum >> 2): 16
      case ...(maximum >> 1): 2 * pictures
      case ...((3 * maximum) >> 2): 4 * pictures / 3
      default: pictures
      }
    }
  }
}
