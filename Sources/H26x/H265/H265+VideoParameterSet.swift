// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `video_parameter_set_rbsp()` (7.3.2.1), NAL unit type 32. Only hvcC and caps need it.
  public struct VideoParameterSet: Sendable, Hashable {
    /// `vps_video_parameter_set_id`, 0 to 15.
    public var id: VideoParameterSetID = 0
    /// `vps_base_layer_internal_flag`.
    public var hasInternalBaseLayer = true
    /// `vps_base_layer_available_flag`.
    public var hasAvailableBaseLayer = true
    /// `vps_max_layers_minus1` + 1, 1 to 64.
    public var layerCount: UInt8 = 1
    /// `vps_max_sub_layers_minus1` + 1, 1 to 7.
    public var subLayerCount: UInt8 = 1
    /// `vps_temporal_id_nesting_flag`.
    public var hasNestedTemporalIDs = true
    /// `profile_tier_level()`.
    public var profileTierLevel: ProfileTierLevel
    /// Sizes of the decoded picture buffer: one entry for each sub-layer, or one for all when
    /// `vps_sub_layer_ordering_info_present_flag` is 0.
    public var buffering: [SequenceParameterSet.SubLayerBuffering] = [.init()]
    /// `vps_max_layer_id`, 0 to 63.
    public var maximumLayerID: UInt8 = 0
    /// `layer_id_included_flag` of the layer sets except the first, which is the base layer only: a bit for each layer,
    /// the lowest for layer 0. At most 1023.
    public var layerSets: [UInt64] = []
    /// `vps_timing_info_present_flag` and its fields; nil if the flag is 0.
    public var timing: VUIParameters.Timing?
    /// HRD parameters by layer set; only with ``timing``. At most 1024.
    public var hrdParameters: [LayerSetHRD] = []
    /// `vps_extension_flag` and the bits after it, kept as they are; nil if the flag is 0.
    public var extensionData: ExtensionData?
    /// Whether the NAL unit ended correctly; see ``SequenceParameterSet/hasProperEnd``.
    public var hasProperEnd = true

    /// The HRD parameters of a layer set.
    public struct LayerSetHRD: Sendable, Hashable {
      /// `hrd_layer_set_idx`, 0 to 1023.
      public var layerSet: UInt16
      /// `hrd_parameters()`, with or without the common part (`cprms_present_flag`).
      public var parameters: HRDParameters

      /// Creates one.
      public init(layerSet: UInt16, parameters: HRDParameters) {
        self.layerSet = layerSet
        self.parameters = parameters
      }
    }

    /// Creates a VPS for one layer and one sub-layer.
    public init(profileTierLevel: ProfileTierLevel) { self.profileTierLevel = profileTierLevel }

    /// Reads the NAL unit, header included.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 32.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      var reserved: UInt32 = 0
      try self.init(nalUnit: nalUnit, trace: trace, reserved: &reserved)
    }

    /// Reads the NAL unit, and `vps_reserved_0xffff_16bits`, which is not kept: a VPS is written with 0xFFFF.
    package init(nalUnit: Span<UInt8>, trace: SyntaxTrace?, reserved: inout UInt32) throws(BitstreamError) {
      _ = try NALUnitHeader(nalUnit, of: .videoParameterSet)
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount, trace: trace)
      try self.init(payload: &reader, reserved: &reserved)
      hasProperEnd = reader.endsProperly()
    }

    /// Reads `video_parameter_set_rbsp()`, up to the trailing bits.
    init(payload reader: inout BitReader) throws(BitstreamError) {
      var reserved: UInt32 = 0
      try self.init(payload: &reader, reserved: &reserved)
    }

    private init(payload reader: inout BitReader, reserved: inout UInt32) throws(BitstreamError) {
      id = .init(try reader.u8(4, "vps_video_parameter_set_id"))
      hasInternalBaseLayer = try reader.flag("vps_base_layer_internal_flag")
      hasAvailableBaseLayer = try reader.flag("vps_base_layer_available_flag")
      layerCount = try reader.u8(6, "vps_max_layers_minus1") + 1
      subLayerCount = try reader.subLayerCount("vps_max_sub_layers_minus1")
      hasNestedTemporalIDs = try reader.flag("vps_temporal_id_nesting_flag")
      reserved = try reader.u(16, "vps_reserved_0xffff_16bits")
      profileTierLevel = try ProfileTierLevel(&reader, subLayerCount: Int(subLayerCount))
      buffering = try SequenceParameterSet.SubLayerBuffering.all(&reader, .vps, subLayerCount: subLayerCount)
      try readLayerSets(&reader)
      if try reader.flag("vps_timing_info_present_flag") {
        timing = try VUIParameters.Timing(&reader, .vps)
        try readHRDParameters(&reader)
      }
      if try reader.flag("vps_extension_flag") { extensionData = try ExtensionData(&reader) }
    }

    private mutating func readLayerSets(_ reader: inout BitReader) throws(BitstreamError) {
      maximumLayerID = try reader.u8(6, "vps_max_layer_id")
      for _ in 0..<(try reader.ue(in: 0...1023, "vps_num_layer_sets_minus1")) {
        var set: UInt64 = 0
        for layer in 0...UInt64(maximumLayerID) {
          if try reader.flag("layer_id_included_flag") { set |= 1 << layer }
        }
        layerSets.append(set)
      }
    }

    private mutating func readHRDParameters(_ reader: inout BitReader) throws(BitstreamError) {
      let last = UInt32(clamping: layerSets.count)
      var common: HRDParameters.Common?
      for _ in 0..<(try reader.ue(in: 0...last + 1, "vps_num_hrd_parameters")) {
        let layerSet = UInt16(truncatingIfNeeded: try reader.ue(in: 0...last, "hrd_layer_set_idx"))
        var inherited: HRDParameters.Common?
        if let common { inherited = try reader.flag("cprms_present_flag") ? nil : common }
        let parameters = try HRDParameters(&reader, inherited: inherited, subLayerCount: Int(subLayerCount))
        common = parameters.common
        hrdParameters.append(LayerSetHRD(layerSet: layerSet, parameters: parameters))
      }
    }

    /// The NAL unit with emulation prevention bytes: the inverse of ``init(nalUnit:trace:)``.
    public func nalUnit() -> [UInt8] {
      var writer = BitWriter()
      NALUnitHeader(type: .videoParameterSet).write(to: &writer)
      write(to: &writer)
      writer.trailingBits()
      return writer.bytes
    }

    func write(to writer: inout BitWriter) {
      writer.u(4, UInt32(id.rawValue))
      writer.flag(hasInternalBaseLayer)
      writer.flag(hasAvailableBaseLayer)
      writer.u(6, UInt32(max(1, layerCount)) - 1)
      writer.u(3, UInt32(max(1, subLayerCount)) - 1)
      writer.flag(hasNestedTemporalIDs)
      writer.u(16, 0xFFFF)
      profileTierLevel.write(to: &writer)
      SequenceParameterSet.SubLayerBuffering.write(buffering, to: &writer, subLayerCount: subLayerCount)
      writer.u(6, UInt32(maximumLayerID))
      let sets = layerSets.prefix(1023)
      writer.ue(UInt32(sets.count))
      for set in sets {
        for layer in 0...UInt64(min(maximumLayerID, 63)) { writer.flag(set >> layer & 1 != 0) }
      }
      writer.flag(timing != nil)
      if let timing {
        timing.write(to: &writer)
        let parameters = hrdParameters.prefix(sets.count + 1)
        writer.ue(UInt32(parameters.count))
        for (index, entry) in parameters.enumerated() {
          writer.ue(UInt32(entry.layerSet))
          if index > 0 { writer.flag(entry.parameters.hasCommon) }
          entry.parameters.write(to: &writer)
        }
      }
      writer.flag(extensionData != nil)
      extensionData?.write(to: &writer)
    }
  }
}
