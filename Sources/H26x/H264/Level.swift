// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// A level (A.3): limits of picture size, rate and memory.
  public struct Level: Sendable, Hashable {
    /// `level_idc`: ten times the level's number; 9, or 11 with `constraint_set3_flag`, is 1b.
    public let idc: UInt8
    private let is1b: Bool

    /// Creates a level from `level_idc` and the profile, whose `constraint_set3_flag` turns 1.1 into 1b (A.3.1).
    public init(idc: UInt8, profile: Profile) {
      self.idc = idc
      is1b = idc == 9 || (idc == 11 && [66, 77, 88].contains(profile.idc) && profile.isConstrained(toSet: 3))
    }

    /// The name in GStreamer's `level` field such as "4.1" or "1b", nil for a number that is no level.
    public var name: String? {
      if is1b { return "1b" }
      switch idc {
      case 10: return "1"
      case 20, 30, 40, 50, 60: return "\(idc / 10)"
      case 11, 12, 13, 21, 22, 31, 32, 41, 42, 51, 52, 61, 62: return "\(idc / 10).\(idc % 10)"
      default: return nil
      }
    }

    /// `MaxDpbMbs` (Table A-1): the decoded picture buffer in macroblocks. Unknown levels get the highest.
    public var maximumDecodedPictureBufferMacroblocks: Int {
      if is1b { return 396 }
      switch idc {
      case 10: return 396
      case 11: return 900
      case 12, 13, 20: return 2376
      case 21: return 4752
      case 22, 30: return 8100
      case 31: return 18000
      case 32: return 20480
      case 40, 41: return 32768
      case 42: return 34816
      case 50: return 110400
      case 51, 52: return 184320
      default: return 696320
      }
    }

    /// `MaxMBPS` (Table A-1): macroblocks a second. Unknown levels get the highest.
    public var maximumMacroblocksPerSecond: Int {
      if is1b { return 1485 }
      switch idc {
      case 10: return 1485
      case 11: return 3000
      case 12: return 6000
      case 13, 20: return 11880
      case 21: return 19800
      case 22: return 20250
      case 30: return 40500
      case 31: return 108_000
      case 32: return 216_000
      case 40, 41: return 245_760
      case 42: return 522_240
      case 50: return 589_824
      case 51: return 983_040
      case 52: return 2_073_600
      case 60: return 4_177_920
      case 61: return 8_355_840
      default: return 16_711_680
      }
    }
  }
}
