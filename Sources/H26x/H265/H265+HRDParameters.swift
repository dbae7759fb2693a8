// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `hrd_parameters()` (E.2.2): the buffers of the hypothetical reference decoder, by temporal sub-layer.
  public struct HRDParameters: Sendable, Hashable {
    /// The part that all sub-layers share.
    public var common: Common
    /// Whether it is sent here (`commonInfPresentFlag`); else that of the HRD parameters before in the VPS holds.
    public var hasCommon: Bool
    /// One entry for each temporal sub-layer, lowest first: 1 to 7.
    public var subLayers: [SubLayer]

    /// The part that all sub-layers share.
    public struct Common: Sendable, Hashable {
      /// `nal_hrd_parameters_present_flag`.
      public var hasNAL = false
      /// `vcl_hrd_parameters_present_flag`.
      public var hasVCL = false
      /// `sub_pic_hrd_params_present_flag` and its fields; nil if the flag is 0.
      public var subPicture: SubPicture?
      /// `bit_rate_scale`, 0 to 15.
      public var bitRateScale: UInt8 = 0
      /// `cpb_size_scale`, 0 to 15.
      public var sizeScale: UInt8 = 0
      /// `initial_cpb_removal_delay_length_minus1` + 1, 1 to 32 bits.
      public var initialRemovalDelayLength: UInt8 = 24
      /// `au_cpb_removal_delay_length_minus1` + 1, 1 to 32 bits.
      public var removalDelayLength: UInt8 = 24
      /// `dpb_output_delay_length_minus1` + 1, 1 to 32 bits.
      public var outputDelayLength: UInt8 = 24

      /// Creates one for neither NAL nor VCL HRD.
      public init() {}
    }

    /// Buffering by decoding units, which are parts of a picture.
    public struct SubPicture: Sendable, Hashable {
      /// `tick_divisor_minus2`.
      public var tickDivisorMinus2: UInt8
      /// `du_cpb_removal_delay_increment_length_minus1` + 1, 1 to 32 bits.
      public var removalDelayIncrementLength: UInt8
      /// `sub_pic_cpb_params_in_pic_timing_sei_flag`.
      public var isInPictureTiming: Bool
      /// `dpb_output_delay_du_length_minus1` + 1, 1 to 32 bits.
      public var outputDelayLength: UInt8
      /// `cpb_size_du_scale`, 0 to 15.
      public var sizeScale: UInt8

      /// Creates one.
      public init(
        tickDivisorMinus2: UInt8, removalDelayIncrementLength: UInt8, isInPictureTiming: Bool, outputDelayLength: UInt8,
        sizeScale: UInt8
      ) {
        self.tickDivisorMinus2 = tickDivisorMinus2
        self.removalDelayIncrementLength = removalDelayIncrementLength
        self.isInPictureTiming = isInPictureTiming
        self.outputDelayLength = outputDelayLength
        self.sizeScale = sizeScale
      }
    }

    /// Whether the picture rate is fixed.
    public enum PictureRate: Sendable, Hashable {
      /// `fixed_pic_rate_general_flag`: fixed over the whole stream. `elemental_duration_in_tc_minus1` + 1, 1 to 2048.
      case fixed(elementalDuration: UInt16)
      /// `fixed_pic_rate_within_cvs_flag`: fixed within each coded video sequence.
      case fixedWithinSequence(elementalDuration: UInt16)
      /// Neither; `low_delay_hrd_flag`.
      case variable(isLowDelay: Bool)
    }

    /// The buffers of a temporal sub-layer.
    public struct SubLayer: Sendable, Hashable {
      /// Whether the picture rate is fixed.
      public var pictureRate: PictureRate
      /// `cpb_cnt_minus1` + 1, 1 to 32.
      public var bufferCount: UInt8
      /// The buffers of `nal_hrd_parameters`: `bufferCount`, or none.
      public var nal: [CodedPictureBuffer] = []
      /// The buffers of `vcl_hrd_parameters`: `bufferCount`, or none.
      public var vcl: [CodedPictureBuffer] = []

      /// Creates one without buffers.
      public init(pictureRate: PictureRate, bufferCount: UInt8 = 1) {
        self.pictureRate = pictureRate
        self.bufferCount = bufferCount
      }
    }

    /// One coded picture buffer.
    public struct CodedPictureBuffer: Sendable, Hashable {
      /// `bit_rate_value_minus1` + 1, in units of 2^(6 + `bitRateScale`) bits a second.
      public var bitRateValue: UInt32
      /// `cpb_size_value_minus1` + 1, in units of 2^(4 + `sizeScale`) bits.
      public var sizeValue: UInt32
      /// `cpb_size_du_value_minus1` + 1, in units of 2^(4 + `cpb_size_du_scale`) bits; 0 without decoding units.
      public var unitSizeValue: UInt32 = 0
      /// `bit_rate_du_value_minus1` + 1, in units of 2^(6 + `bitRateScale`) bits a second; 0 without decoding units.
      public var unitBitRateValue: UInt32 = 0
      /// `cbr_flag`.
      public var isConstantBitRate: Bool

      /// Creates one.
      public init(bitRateValue: UInt32, sizeValue: UInt32, isConstantBitRate: Bool) {
        self.bitRateValue = bitRateValue
        self.sizeValue = sizeValue
        self.isConstantBitRate = isConstantBitRate
      }
    }

    /// The bit rate of a buffer, in bits a second.
    public func bitRate(of buffer: CodedPictureBuffer) -> UInt64 {
      UInt64(buffer.bitRateValue) << UInt64(6 + common.bitRateScale & 0xF)
    }

    /// The size of a buffer, in bits.
    public func size(of buffer: CodedPictureBuffer) -> UInt64 {
      UInt64(buffer.sizeValue) << UInt64(4 + common.sizeScale & 0xF)
    }

    /// Creates HRD parameters.
    public init(common: Common, hasCommon: Bool = true, subLayers: [SubLayer]) {
      self.common = common
      self.hasCommon = hasCommon
      self.subLayers = subLayers
    }
  }
}

extension H265.HRDParameters {
  /// Reads `hrd_parameters( commonInfPresentFlag, subLayerCount − 1 )`.
  ///
  /// - Parameters:
  ///   - inherited: replaces the common part when that is not sent; nil if it is.
  ///   - subLayerCount: 1 to 7.
  init(_ reader: inout BitReader, inherited: Common? = nil, subLayerCount: Int) throws(BitstreamError) {
    hasCommon = inherited == nil
    if let inherited { common = inherited } else { common = try Common(&reader) }
    subLayers = []
    let count = max(1, min(subLayerCount, 7))
    subLayers.reserveCapacity(count)
    for _ in 0..<count { subLayers.append(try SubLayer(&reader, common)) }
  }

  func write(to writer: inout BitWriter) {
    if hasCommon { common.write(to: &writer) }
    for layer in subLayers.prefix(7) { layer.write(to: &writer, common) }
  }
}

extension H265.HRDParameters.Common {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    hasNAL = try reader.flag("nal_hrd_parameters_present_flag")
    hasVCL = try reader.flag("vcl_hrd_parameters_present_flag")
    guard hasNAL || hasVCL else { return }
    if try reader.flag("sub_pic_hrd_params_present_flag") {
      subPicture = H265.HRDParameters.SubPicture(
        tickDivisorMinus2: try reader.byte("tick_divisor_minus2"),
        removalDelayIncrementLength: try reader.u8(5, "du_cpb_removal_delay_increment_length_minus1") + 1,
        isInPictureTiming: try reader.flag("sub_pic_cpb_params_in_pic_timing_sei_flag"),
        outputDelayLength: try reader.u8(5, "dpb_output_delay_du_length_minus1") + 1, sizeScale: 0)
    }
    bitRateScale = try reader.u8(4, "bit_rate_scale")
    sizeScale = try reader.u8(4, "cpb_size_scale")
    if subPicture != nil { subPicture?.sizeScale = try reader.u8(4, "cpb_size_du_scale") }
    initialRemovalDelayLength = try reader.u8(5, "initial_cpb_removal_delay_length_minus1") + 1
    removalDelayLength = try reader.u8(5, "au_cpb_removal_delay_length_minus1") + 1
    outputDelayLength = try reader.u8(5, "dpb_output_delay_length_minus1") + 1
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(hasNAL)
    writer.flag(hasVCL)
    guard hasNAL || hasVCL else { return }
    writer.flag(subPicture != nil)
    if let subPicture {
      writer.u(8, UInt32(subPicture.tickDivisorMinus2))
      writer.u(5, UInt32(max(1, subPicture.removalDelayIncrementLength)) - 1)
      writer.flag(subPicture.isInPictureTiming)
      writer.u(5, UInt32(max(1, subPicture.outputDelayLength)) - 1)
    }
    writer.u(4, UInt32(bitRateScale))
    writer.u(4, UInt32(sizeScale))
    if let subPicture { writer.u(4, UInt32(subPicture.sizeScale)) }
    for length in [initialRemovalDelayLength, removalDelayLength, outputDelayLength] {
      writer.u(5, UInt32(max(1, length)) - 1)
    }
  }
}

extension H265.HRDParameters.SubLayer {
  fileprivate init(_ reader: inout BitReader, _ common: H265.HRDParameters.Common) throws(BitstreamError) {
    let isFixed = try reader.flag("fixed_pic_rate_general_flag")
    let isFixedWithinSequence = isFixed ? true : try reader.flag("fixed_pic_rate_within_cvs_flag")
    if isFixedWithinSequence {
      let duration = UInt16(truncatingIfNeeded: try reader.ue(in: 0...2047, "elemental_duration_in_tc_minus1") + 1)
      pictureRate = isFixed ? .fixed(elementalDuration: duration) : .fixedWithinSequence(elementalDuration: duration)
    } else {
      pictureRate = .variable(isLowDelay: try reader.flag("low_delay_hrd_flag"))
    }
    bufferCount = pictureRate.isLowDelay ? 1 : try reader.ue8(in: 0...31, "cpb_cnt_minus1") + 1
    let hasUnits = common.subPicture != nil
    if common.hasNAL { nal = try Self.buffers(&reader, count: bufferCount, hasUnits: hasUnits) }
    if common.hasVCL { vcl = try Self.buffers(&reader, count: bufferCount, hasUnits: hasUnits) }
  }

  private static func buffers(
    _ reader: inout BitReader, count: UInt8, hasUnits: Bool
  ) throws(BitstreamError) -> [H265.HRDParameters.CodedPictureBuffer] {
    let range = 0...UInt32.max - 1
    var buffers: [H265.HRDParameters.CodedPictureBuffer] = []
    buffers.reserveCapacity(Int(count))
    for _ in 0..<count {
      var buffer = H265.HRDParameters.CodedPictureBuffer(
        bitRateValue: try reader.ue(in: range, "bit_rate_value_minus1") + 1,
        sizeValue: try reader.ue(in: range, "cpb_size_value_minus1") + 1, isConstantBitRate: false)
      if hasUnits {
        buffer.unitSizeValue = try reader.ue(in: range, "cpb_size_du_value_minus1") + 1
        buffer.unitBitRateValue = try reader.ue(in: range, "bit_rate_du_value_minus1") + 1
      }
      buffer.isConstantBitRate = try reader.flag("cbr_flag")
      buffers.append(buffer)
    }
    return buffers
  }

  fileprivate func write(to writer: inout BitWriter, _ common: H265.HRDParameters.Common) {
    switch pictureRate {
    case .fixed(let duration):
      writer.flag(true)
      writer.ue(UInt32(max(1, duration)) - 1)
    case .fixedWithinSequence(let duration):
      writer.u(2, 0b01)
      writer.ue(UInt32(max(1, duration)) - 1)
    case .variable(let isLowDelay):
      writer.u(2, 0b00)
      writer.flag(isLowDelay)
    }
    if !pictureRate.isLowDelay { writer.ue(UInt32(max(1, bufferCount)) - 1) }
    let present = (common.hasNAL ? nal : []) + (common.hasVCL ? vcl : [])
    for buffer in present {
      writer.ue(max(1, buffer.bitRateValue) - 1)
      writer.ue(max(1, buffer.sizeValue) - 1)
      if common.subPicture != nil {
        writer.ue(max(1, buffer.unitSizeValue) - 1)
        writer.ue(max(1, buffer.unitBitRateValue) - 1)
      }
      writer.flag(buffer.isConstantBitRate)
    }
  }
}

extension H265.HRDParameters.PictureRate {
  fileprivate var isLowDelay: Bool { if case .variable(isLowDelay: true) = self { true } else { false } }
}
