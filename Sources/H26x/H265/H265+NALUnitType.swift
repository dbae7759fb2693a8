// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `nal_unit_type` (Table 7-1): any of the 64 values, including reserved values.
  public struct NALUnitType: RawRepresentable, Sendable, Hashable {
    /// 0 to 63.
    public let rawValue: UInt8

    /// Creates a type from its number, of which only the low six bits count.
    @inline(__always)
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x3F }

    /// Creates a type from the first byte of a NAL unit.
    @inline(__always)
    public init(headerByte: UInt8) { self.init(rawValue: headerByte >> 1) }

    /// Coded slice segment of a trailing picture that no picture of its sub-layer refers to.
    public static let trailingN = NALUnitType(rawValue: 0)
    /// Coded slice segment of a trailing picture that others may refer to.
    public static let trailingR = NALUnitType(rawValue: 1)
    /// Coded slice segment of a TSA (temporal sub-layer access) picture that no picture of its sub-layer refers to.
    public static let tsaN = NALUnitType(rawValue: 2)
    /// Coded slice segment of a TSA picture that others may refer to.
    public static let tsaR = NALUnitType(rawValue: 3)
    /// Coded slice segment of an STSA (step-wise TSA) picture that no picture of its sub-layer refers to.
    public static let stsaN = NALUnitType(rawValue: 4)
    /// Coded slice segment of an STSA picture that others may refer to.
    public static let stsaR = NALUnitType(rawValue: 5)
    /// Coded slice segment of a RADL (random access decodable leading) picture that no picture of its sub-layer refers
    /// to.
    public static let radlN = NALUnitType(rawValue: 6)
    /// Coded slice segment of a RADL picture that others may refer to.
    public static let radlR = NALUnitType(rawValue: 7)
    /// Coded slice segment of a RASL (random access skipped leading) picture that no picture of its sub-layer refers
    /// to.
    public static let raslN = NALUnitType(rawValue: 8)
    /// Coded slice segment of a RASL picture that others may refer to.
    public static let raslR = NALUnitType(rawValue: 9)
    /// Broken link access, with leading pictures of any kind.
    public static let blaWithLeading = NALUnitType(rawValue: 16)
    /// Broken link access, with decodable leading pictures only.
    public static let blaWithRADL = NALUnitType(rawValue: 17)
    /// Broken link access, without leading pictures.
    public static let blaWithoutLeading = NALUnitType(rawValue: 18)
    /// Instantaneous decoding refresh, with decodable leading pictures.
    public static let idrWithRADL = NALUnitType(rawValue: 19)
    /// Instantaneous decoding refresh, without leading pictures.
    public static let idrWithoutLeading = NALUnitType(rawValue: 20)
    /// Clean random access.
    public static let cra = NALUnitType(rawValue: 21)
    /// Video parameter set (VPS).
    public static let videoParameterSet = NALUnitType(rawValue: 32)
    /// Sequence parameter set (SPS).
    public static let sequenceParameterSet = NALUnitType(rawValue: 33)
    /// Picture parameter set (PPS).
    public static let pictureParameterSet = NALUnitType(rawValue: 34)
    /// Access unit delimiter (AUD).
    public static let accessUnitDelimiter = NALUnitType(rawValue: 35)
    /// End of sequence.
    public static let endOfSequence = NALUnitType(rawValue: 36)
    /// End of bitstream.
    public static let endOfStream = NALUnitType(rawValue: 37)
    /// Filler data.
    public static let fillerData = NALUnitType(rawValue: 38)
    /// SEI in front of its picture.
    public static let prefixSEI = NALUnitType(rawValue: 39)
    /// SEI after its picture.
    public static let suffixSEI = NALUnitType(rawValue: 40)
    /// Metadata of Dolby Vision (RPU); unspecified in the Recommendation.
    public static let dolbyVisionRPU = NALUnitType(rawValue: 62)
    /// A NAL unit of Dolby Vision's enhancement layer; unspecified in the Recommendation.
    public static let dolbyVisionEnhancementLayer = NALUnitType(rawValue: 63)

    /// Whether this is a VCL NAL unit: types 0 to 31.
    @inline(__always)
    public var isVCL: Bool { rawValue < 32 }

    /// Whether it is a slice segment of known syntax: types 0 to 9 and 16 to 21.
    @inline(__always)
    public var isSlice: Bool { rawValue <= 9 || 16...21 ~= rawValue }

    /// Whether the picture is an IRAP (intra random access point) picture: types 16 to 23.
    @inline(__always)
    public var isIRAP: Bool { 16...23 ~= rawValue }

    /// Whether the picture is an IDR picture: types 19 and 20.
    @inline(__always)
    public var isIDR: Bool { rawValue == 19 || rawValue == 20 }

    /// Whether the picture is a BLA picture: types 16 to 18.
    @inline(__always)
    public var isBLA: Bool { 16...18 ~= rawValue }

    /// Whether the picture is a random access skipped leading picture: types 8 and 9.
    @inline(__always)
    public var isRASL: Bool { rawValue == 8 || rawValue == 9 }

    /// Whether the picture is a random access decodable leading picture: types 6 and 7.
    @inline(__always)
    public var isRADL: Bool { rawValue == 6 || rawValue == 7 }

    /// Whether the picture follows an IRAP picture in decoding order and precedes it in output order: types 6 to 9.
    @inline(__always)
    public var isLeading: Bool { 6...9 ~= rawValue }

    /// Whether the picture is an IRAP picture whose type allows leading pictures: all but BLA_N_LP and IDR_N_LP.
    @inline(__always)
    package var mayHaveLeadingPictures: Bool { isIRAP && self != .blaWithoutLeading && self != .idrWithoutLeading }

    /// Whether the picture is a sub-layer non-reference picture: even types up to 14 (3.160).
    @inline(__always)
    public var isSubLayerNonReference: Bool { rawValue <= 14 && rawValue & 1 == 0 }

    /// Whether it is a VPS, SPS or PPS: 32 to 34.
    @inline(__always)
    public var isParameterSet: Bool { 32...34 ~= rawValue }

    /// Whether it holds SEI messages: 39 and 40.
    @inline(__always)
    public var isSEI: Bool { rawValue == 39 || rawValue == 40 }

    /// Whether the type exists only in RTP packets (48 to 50; RFC 7798), never in an elementary stream. Other
    /// unspecified types may be in use, and stay: Dolby Vision has 62 and 63.
    public var isRTPOnly: Bool { 48...50 ~= rawValue }

    /// The name in Table 7-1, such as "TRAIL_R" or "CRA_NUT".
    public var symbol: String {
      switch rawValue {
      case 10, 12, 14: "RSV_VCL_N\(rawValue)"
      case 11, 13, 15: "RSV_VCL_R\(rawValue)"
      case 22, 23: "RSV_IRAP_VCL\(rawValue)"
      case 24...31: "RSV_VCL\(rawValue)"
      case 21, 32...37: "\(shortName)_NUT"
      case 38: "FD_NUT"
      case 39: "PREFIX_SEI_NUT"
      case 40: "SUFFIX_SEI_NUT"
      case 41...47: "RSV_NVCL\(rawValue)"
      case 48...63: "UNSPEC\(rawValue)"
      default: "\(shortName)"
      }
    }

    /// The type's name in tables: that of Table 7-1 without its ending, or a word or two.
    package var shortName: StaticString {
      switch rawValue {
      case 0: "TRAIL_N"
      case 1: "TRAIL_R"
      case 2: "TSA_N"
      case 3: "TSA_R"
      case 4: "STSA_N"
      case 5: "STSA_R"
      case 6: "RADL_N"
      case 7: "RADL_R"
      case 8: "RASL_N"
      case 9: "RASL_R"
      case 16: "BLA_W_LP"
      case 17: "BLA_W_RADL"
      case 18: "BLA_N_LP"
      case 19: "IDR_W_RADL"
      case 20: "IDR_N_LP"
      case 21: "CRA"
      case 32: "VPS"
      case 33: "SPS"
      case 34: "PPS"
      case 35: "AUD"
      case 36: "EOS"
      case 37: "EOB"
      case 38: "filler"
      case 39: "SEI"
      case 40: "suffix SEI"
      case 48: "aggregation packet"
      case 49: "fragmentation unit"
      case 50: "PACI"
      case 51...61: "unspecified"
      case 62: "Dolby Vision RPU"
      case 63: "Dolby Vision EL"
      default: "reserved"
      }
    }

    /// The type's name for people.
    public var name: String {
      switch rawValue {
      case 0, 1: "coded slice segment of a trailing picture"
      case 2, 3: "coded slice segment of a TSA picture"
      case 4, 5: "coded slice segment of an STSA picture"
      case 6, 7: "coded slice segment of a RADL picture"
      case 8, 9: "coded slice segment of a RASL picture"
      case 16...18: "coded slice segment of a BLA picture"
      case 19, 20: "coded slice segment of an IDR picture"
      case 21: "coded slice segment of a CRA picture"
      case 32: "video parameter set (VPS)"
      case 33: "sequence parameter set (SPS)"
      case 34: "picture parameter set (PPS)"
      case 35: "access unit delimiter (AUD)"
      case 36: "end of sequence"
      case 37: "end of bitstream"
      case 38: "filler data"
      case 39: "prefix supplemental enhancement information (SEI)"
      case 40: "suffix supplemental enhancement information (SEI)"
      case 48: "aggregation packet (AP)"
      case 49: "fragmentation unit (FU)"
      case 50: "payload content information (PACI)"
      case 51...61: "unspecified"
      case 62: "Dolby Vision metadata (RPU)"
      case 63: "Dolby Vision enhancement layer (EL)"
      default: "reserved"
      }
    }
  }
}

extension NALUnitTypeSet {
  /// A set of H.265's types: `repackager.drop = .h265(.prefixSEI, .suffixSEI)`.
  public static func h265(_ types: H265.NALUnitType...) -> NALUnitTypeSet { NALUnitTypeSet(types) }
}
