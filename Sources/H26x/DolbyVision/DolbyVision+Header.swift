// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// The first part of `rpu_data_header()` (ETSI GS CCM 001, 5.3.2), up to the mapping.
  public struct Header: Sendable, Hashable {
    /// `rpu_format`, 0 to 2047.
    public var format: UInt16
    /// `vdr_rpu_profile`, 0 to 15; no profile of Dolby Vision.
    public var profile: UInt8
    /// `vdr_rpu_level`, 0 to 15.
    public var level: UInt8
    /// The fields behind `vdr_seq_info_present_flag`; nil if they are those of an earlier picture.
    public var sequence: SequenceInformation?
    /// `vdr_dm_metadata_present_flag`.
    var hasDisplayManagement: Bool
    /// `prev_vdr_rpu_id`, 0 to 15: the picture's mapping is that of an earlier one; nil if it follows.
    public var previousMappingID: UInt32?

    /// Fields that apply until they are sent again.
    public struct SequenceInformation: Sendable, Hashable {
      /// `chroma_resampling_explicit_filter_flag`.
      public var hasExplicitChromaFilter: Bool
      /// How coefficients are sent.
      public var coefficients: CoefficientType
      /// `vdr_rpu_normalized_idc`, 0 to 3.
      public var normalization: UInt8
      /// `BL_video_full_range_flag`.
      public var isBaseLayerFullRange: Bool
      /// The fields of formats whose `rpu_format & 0x700` is 0; nil for others.
      public var layers: LayerInformation?

      /// Creates the fields of a stream with one layer of 10 bits, as profiles 5 and 8 have.
      public init(isBaseLayerFullRange: Bool = false) {
        (hasExplicitChromaFilter, coefficients, normalization) = (false, .fixed(fractionLength: 23), 1)
        self.isBaseLayerFullRange = isBaseLayerFullRange
        layers = LayerInformation()
      }

      init(_ reader: inout BitReader, format: UInt16) throws(BitstreamError) {
        hasExplicitChromaFilter = try reader.flag("chroma_resampling_explicit_filter_flag")
        let place = reader.bitOffset
        switch try reader.u(2, "coefficient_data_type") {
        case 0:
          let length = try reader.ue(in: 0...32, "coefficient_log2_denom")
          coefficients = .fixed(fractionLength: UInt8(truncatingIfNeeded: length))
        case 1: coefficients = .float
        default: throw BitstreamError(.unsupported, "coefficient_data_type", bitOffset: place)
        }
        normalization = try reader.u8(2, "vdr_rpu_normalized_idc")
        isBaseLayerFullRange = try reader.flag("BL_video_full_range_flag")
        layers = format & 0x700 == 0 ? try LayerInformation(&reader) : nil
      }

      func write(to writer: inout BitWriter) {
        writer.flag(hasExplicitChromaFilter)
        switch coefficients {
        case .fixed(let length):
          writer.u(2, 0)
          writer.ue(UInt32(length))
        case .float: writer.u(2, 1)
        }
        writer.u(2, UInt32(normalization))
        writer.flag(isBaseLayerFullRange)
        layers?.write(to: &writer)
      }
    }

    /// `coefficient_data_type`.
    public enum CoefficientType: Sendable, Hashable {
      /// 0: an integer and a fraction of `coefficient_log2_denom` bits, 0 to 32.
      case fixed(fractionLength: UInt8)
      /// 1: a number of IEEE 754 of 32 bits.
      case float

      /// The bits of the fraction, or of the floating-point number.
      var length: Int {
        switch self {
        case .fixed(let length): Int(length)
        case .float: 32
        }
      }
    }

    /// The depths of the layers, and their combination.
    public struct LayerInformation: Sendable, Hashable {
      /// `BL_bit_depth_minus8`, 0 to 8.
      public var baseDepthMinus8: UInt8
      /// `EL_bit_depth_minus8`, 0 to 8, in the low byte. Newer versions have an identifier of mappings above it.
      public var enhancementDepthMinus8: UInt32
      /// `vdr_bit_depth_minus8`, 0 to 8.
      public var outputDepthMinus8: UInt8
      /// `spatial_resampling_filter_flag`.
      public var hasResamplingFilter: Bool
      /// `reserved_zero_3bits`. With 1, matrices and source are left out of the metadata for displays.
      public var compression: UInt8
      /// `EL_spatial_resampling_filter_flag`: the enhancement layer has half the width and height.
      public var isEnhancementLayerScaled: Bool
      /// `disable_residual_flag`: nothing is made of an enhancement layer.
      public var isResidualDisabled: Bool

      /// Creates the fields of a stream with one layer of 10 bits.
      public init() {
        (baseDepthMinus8, enhancementDepthMinus8, outputDepthMinus8) = (2, 2, 4)
        (hasResamplingFilter, compression) = (false, 0)
        (isEnhancementLayerScaled, isResidualDisabled) = (false, true)
      }

      init(_ reader: inout BitReader) throws(BitstreamError) {
        baseDepthMinus8 = try reader.ue8(in: 0...8, "BL_bit_depth_minus8")
        let place = reader.bitOffset
        enhancementDepthMinus8 = try reader.ue(in: 0...0xFFFF, "EL_bit_depth_minus8")
        guard enhancementDepthMinus8 & 0xFF <= 8 else {
          throw BitstreamError(.valueOutOfRange, "EL_bit_depth_minus8", bitOffset: place)
        }
        outputDepthMinus8 = try reader.ue8(in: 0...8, "vdr_bit_depth_minus8")
        hasResamplingFilter = try reader.flag("spatial_resampling_filter_flag")
        compression = try reader.u8(3, "reserved_zero_3bits")
        isEnhancementLayerScaled = try reader.flag("EL_spatial_resampling_filter_flag")
        isResidualDisabled = try reader.flag("disable_residual_flag")
      }

      func write(to writer: inout BitWriter) {
        writer.ue(UInt32(baseDepthMinus8))
        writer.ue(enhancementDepthMinus8)
        writer.ue(UInt32(outputDepthMinus8))
        writer.flag(hasResamplingFilter)
        writer.u(3, UInt32(compression))
        writer.flag(isEnhancementLayerScaled)
        writer.flag(isResidualDisabled)
      }

      /// Bits of a sample of the enhancement layer.
      var enhancementDepth: Int { Int(enhancementDepthMinus8 & 0xFF) + 8 }
    }

    /// Creates the header of a stream with one layer of 10 bits.
    ///
    /// - Parameters:
    ///   - profile: `vdr_rpu_profile`: 0 for profile 5, 1 for profile 8.
    ///   - sequence: the fields behind `vdr_seq_info_present_flag`.
    public init(profile: UInt8, sequence: SequenceInformation?) {
      (format, level, hasDisplayManagement) = (18, 0, false)
      self.profile = profile & 0xF
      self.sequence = sequence
    }

    init(_ reader: inout BitReader) throws(BitstreamError) {
      let place = reader.bitOffset
      guard try reader.u(6, "rpu_type") == 2 else {
        throw BitstreamError(.unsupported, "rpu_type", bitOffset: place)
      }
      format = UInt16(truncatingIfNeeded: try reader.u(11, "rpu_format"))
      profile = try reader.u8(4, "vdr_rpu_profile")
      level = try reader.u8(4, "vdr_rpu_level")
      let hasSequence = try reader.flag("vdr_seq_info_present_flag")
      sequence = hasSequence ? try SequenceInformation(&reader, format: format) : nil
      hasDisplayManagement = try reader.flag("vdr_dm_metadata_present_flag")
      let hasPrevious = try reader.flag("use_prev_vdr_rpu_flag")
      previousMappingID = hasPrevious ? try reader.ue(in: 0...15, "prev_vdr_rpu_id") : nil
    }

    func write(to writer: inout BitWriter, hasDisplayManagement: Bool) {
      writer.u(6, 2)
      writer.u(11, UInt32(format))
      writer.u(4, UInt32(profile))
      writer.u(4, UInt32(level))
      writer.flag(sequence != nil)
      sequence?.write(to: &writer)
      writer.flag(hasDisplayManagement)
      writer.flag(previousMappingID != nil)
      if let previousMappingID { writer.ue(previousMappingID) }
    }
  }

  /// A coefficient: `…_int` and its fraction.
  public struct Coefficient: Sendable, Hashable {
    /// The integer in front of the fraction; 0 in floating-point coefficients.
    public var integer: Int64
    /// The bits of the fraction, or of a number of IEEE 754.
    public var fraction: UInt32

    /// Creates a coefficient.
    public init(integer: Int64, fraction: UInt32 = 0) { (self.integer, self.fraction) = (integer, fraction) }

    /// Reads a coefficient whose integer is signed.
    init(
      signed reader: inout BitReader, _ type: Header.CoefficientType, _ integer: StaticString, _ fraction: StaticString
    ) throws(BitstreamError) {
      var value: Int64 = 0
      if type != .float { value = Int64(try reader.se(in: Int32.min + 1...Int32.max, integer)) }
      self.init(integer: value, fraction: try reader.u(type.length, fraction))
    }

    /// Reads a coefficient whose integer is not signed.
    init(
      unsigned reader: inout BitReader, _ type: Header.CoefficientType, _ integer: StaticString,
      _ fraction: StaticString
    ) throws(BitstreamError) {
      var value: Int64 = 0
      if type != .float { value = Int64(try reader.ue(in: 0...UInt32.max - 1, integer)) }
      self.init(integer: value, fraction: try reader.u(type.length, fraction))
    }

    func write(signed writer: inout BitWriter, _ type: Header.CoefficientType) {
      if type != .float { writer.se(Int32(clamping: integer)) }
      writer.u(type.length, fraction)
    }

    func write(unsigned writer: inout BitWriter, _ type: Header.CoefficientType) {
      if type != .float { writer.ue(UInt32(clamping: integer)) }
      writer.u(type.length, fraction)
    }
  }
}
