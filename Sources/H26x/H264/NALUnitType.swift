// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `nal_unit_type` (Table 7-1): any of the 32 values, including reserved values.
  public struct NALUnitType: NALUnitTypeSyntax {
    /// 0 to 31.
    public let rawValue: UInt8

    /// Creates a type from its number, of which only the low five bits count.
    @inline(__always)
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// Creates a type from the first byte of a NAL unit.
    @inline(__always)
    public init(headerByte: UInt8) { self.init(rawValue: headerByte) }

    /// Unspecified: ignored by decoders.
    public static let unspecified = NALUnitType(rawValue: 0)
    /// Coded slice of a non-IDR picture.
    public static let slice = NALUnitType(rawValue: 1)
    /// Coded slice data partition A.
    public static let slicePartitionA = NALUnitType(rawValue: 2)
    /// Coded slice data partition B.
    public static let slicePartitionB = NALUnitType(rawValue: 3)
    /// Coded slice data partition C.
    public static let slicePartitionC = NALUnitType(rawValue: 4)
    /// Coded slice of an IDR picture.
    public static let idrSlice = NALUnitType(rawValue: 5)
    /// Supplemental enhancement information.
    public static let sei = NALUnitType(rawValue: 6)
    /// SPS.
    public static let sequenceParameterSet = NALUnitType(rawValue: 7)
    /// PPS.
    public static let pictureParameterSet = NALUnitType(rawValue: 8)
    /// Access unit delimiter.
    public static let accessUnitDelimiter = NALUnitType(rawValue: 9)
    /// End of sequence.
    public static let endOfSequence = NALUnitType(rawValue: 10)
    /// End of stream.
    public static let endOfStream = NALUnitType(rawValue: 11)
    /// Filler data.
    public static let fillerData = NALUnitType(rawValue: 12)
    /// SPS extension.
    public static let sequenceParameterSetExtension = NALUnitType(rawValue: 13)
    /// Prefix NAL unit: describes the slice after it for SVC and MVC.
    public static let prefix = NALUnitType(rawValue: 14)
    /// Subset SPS (SVC, MVC).
    public static let subsetSequenceParameterSet = NALUnitType(rawValue: 15)
    /// Depth parameter set.
    public static let depthParameterSet = NALUnitType(rawValue: 16)
    /// Coded slice of an auxiliary coded picture without partitioning.
    public static let auxiliarySlice = NALUnitType(rawValue: 19)
    /// Coded slice extension (SVC, MVC).
    public static let sliceExtension = NALUnitType(rawValue: 20)
    /// Coded slice extension for a depth view component or a 3D-AVC texture view component.
    public static let depthSliceExtension = NALUnitType(rawValue: 21)
    /// Metadata of Dolby Vision (RPU); unspecified in the Recommendation.
    public static let dolbyVisionRPU = NALUnitType(rawValue: 28)
    /// A NAL unit of Dolby Vision's enhancement layer; unspecified in the Recommendation.
    public static let dolbyVisionEnhancementLayer = NALUnitType(rawValue: 30)

    /// Whether it holds SEI messages: type 6.
    public var isSEI: Bool { rawValue == 6 }

    /// Whether this is a VCL NAL unit of a base view or layer: types 1 to 5.
    @inline(__always)
    public var isVCL: Bool { 1...5 ~= rawValue }

    /// Whether its payload begins with a slice header: 1, 2, 5, 19, 20, 21.
    @inline(__always)
    public var hasSliceHeader: Bool {
      switch rawValue {
      case 1, 2, 5, 19, 20, 21: true
      default: false
      }
    }

    /// Whether it is an SPS, its extension, a subset SPS or a PPS: 7, 8, 13, 15.
    @inline(__always)
    public var isParameterSet: Bool { rawValue == 7 || rawValue == 8 || rawValue == 13 || rawValue == 15 }

    /// Whether it is a slice of an IDR picture: 5.
    @inline(__always)
    public var isIDR: Bool { rawValue == 5 }

    /// Whether its type marks a random access point: 5.
    @inline(__always)
    public var isRandomAccessPoint: Bool { rawValue == 5 }

    /// False: H.264 has no such type.
    public var isSkippedLeading: Bool { false }

    /// Whether the header has an extension of two or three bytes (7.3.1): 14, 20, 21.
    @inline(__always)
    public var hasHeaderExtension: Bool { rawValue == 14 || rawValue == 20 || rawValue == 21 }

    /// Whether the type exists only in RTP packets (24 to 27 and 29; RFC 6184), never in an elementary stream. Other
    /// unspecified types may be in use, and stay. Dolby Vision has 28, which is FU-A in RTP, and 30.
    public var isRTPOnly: Bool { 24...27 ~= rawValue || rawValue == 29 }

    /// The type's name in tables: a word or two.
    package var shortName: StaticString {
      switch rawValue {
      case 1: "slice"
      case 2: "slice A"
      case 3: "slice B"
      case 4: "slice C"
      case 5: "IDR slice"
      case 6: "SEI"
      case 7: "SPS"
      case 8: "PPS"
      case 9: "AUD"
      case 10: "end of sequence"
      case 11: "end of stream"
      case 12: "filler"
      case 13: "SPS extension"
      case 14: "prefix"
      case 15: "subset SPS"
      case 16: "depth parameter set"
      case 19: "auxiliary slice"
      case 20: "slice extension"
      case 21: "depth slice extension"
      case 17, 18, 22, 23: "reserved"
      case 24...27, 29: "RTP packet"
      case 28: "Dolby Vision RPU"
      case 30: "Dolby Vision EL"
      default: "unspecified"
      }
    }

    /// The type's name for people.
    public var name: String {
      switch rawValue {
      case 1: "coded slice of a non-IDR picture"
      case 2: "coded slice data partition A"
      case 3: "coded slice data partition B"
      case 4: "coded slice data partition C"
      case 5: "coded slice of an IDR picture"
      case 6: "supplemental enhancement information (SEI)"
      case 7: "sequence parameter set (SPS)"
      case 8: "picture parameter set (PPS)"
      case 9: "access unit delimiter (AUD)"
      case 10: "end of sequence"
      case 11: "end of stream"
      case 12: "filler data"
      case 13: "SPS extension"
      case 14: "prefix NAL unit"
      case 15: "subset SPS"
      case 16: "depth parameter set"
      case 17, 18, 22, 23: "reserved"
      case 19: "coded slice of an auxiliary coded picture without partitioning"
      case 20: "coded slice extension"
      case 21: "coded slice extension for depth view components"
      case 24: "STAP-A"
      case 25: "STAP-B"
      case 26: "MTAP16"
      case 27: "MTAP24"
      case 28: "Dolby Vision metadata (RPU)"
      case 29: "FU-B"
      case 30: "Dolby Vision enhancement layer (EL)"
      default: "unspecified"
      }
    }
  }
}

extension NALUnitTypeSet {
  /// A set of H.264's types: `repackager.drop = .h264(.sei, .fillerData)`.
  public static func h264(_ types: H264.NALUnitType...) -> NALUnitTypeSet { NALUnitTypeSet(types) }
}
