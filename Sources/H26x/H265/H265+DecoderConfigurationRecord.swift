// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `HEVCDecoderConfigurationRecord`, "hvcC" (ISO/IEC 14496-15, 8.3.3.1): the parameter sets out of band.
  public struct DecoderConfigurationRecord: Sendable, Hashable {
    /// `general_profile_space` to `general_constraint_indicator_flags`.
    public var profile: Profile
    /// `general_level_idc`.
    public var levelIDC: UInt8
    /// `min_spatial_segmentation_idc`, 0 to 4095.
    public var minimumSpatialSegmentation: UInt16 = 0
    /// `parallelismType`: 0 mixed or unknown, 1 slices, 2 tiles, 3 wavefronts.
    public var parallelism: UInt8 = 0
    /// `chromaFormat`.
    public var chromaFormat: ChromaFormat
    /// `bitDepthLumaMinus8` + 8, 8 to 15.
    public var lumaBitDepth: UInt8
    /// `bitDepthChromaMinus8` + 8, 8 to 15.
    public var chromaBitDepth: UInt8
    /// `avgFrameRate`, in frames per 256 seconds; 0 when unknown.
    public var averageFrameRate: UInt16 = 0
    /// `constantFrameRate`: 0 unknown, 1 constant, 2 constant for each temporal sub-layer.
    public var constantFrameRate: UInt8 = 0
    /// `numTemporalLayers`: 0 unknown, 1 no temporal sub-layers.
    public var temporalLayerCount: UInt8 = 1
    /// `temporalIdNested`.
    public var hasNestedTemporalIDs = true
    /// `lengthSizeMinusOne` + 1.
    public var nalLengthSize: NALLengthSize
    /// The NAL units by type, in the order of the record.
    public var arrays: [NALUnitArray]
    /// The bytes that follow, kept as they are.
    public var trailingBytes: [UInt8] = []
    /// Whether start codes were found in the record that was read. None belong there, and they were left out.
    package private(set) var hadStartCodes = false

    /// NAL units of one type.
    public struct NALUnitArray: Sendable, Hashable {
      /// `NAL_unit_type`: 32, 33, 34, 39 or 40.
      public var type: NALUnitType
      /// `array_completeness`: samples have none of this type.
      public var isComplete: Bool
      /// The NAL units, none of them empty. At most 65,535 can be written.
      public var nalUnits: [[UInt8]]

      /// Creates an array.
      public init(type: NALUnitType, isComplete: Bool, nalUnits: [[UInt8]]) {
        self.type = type
        self.isComplete = isComplete
        self.nalUnits = nalUnits
      }
    }

    /// The NAL units of a type, in order.
    public func nalUnits(of type: NALUnitType) -> [[UInt8]] {
      arrays.reduce(into: []) { if $1.type == type { $0 += $1.nalUnits } }
    }

    /// VPS, SPS, PPS and SEI, in sending order.
    public var nalUnits: [[UInt8]] { parameterSets + nalUnits(of: .prefixSEI) + nalUnits(of: .suffixSEI) }

    /// VPS, SPS and PPS, in that order.
    public var parameterSets: [[UInt8]] {
      nalUnits(of: .videoParameterSet) + nalUnits(of: .sequenceParameterSet) + nalUnits(of: .pictureParameterSet)
    }

    /// Creates the record for parameter sets.
    ///
    /// Its fields come from the first SPS, without emulation prevention bytes.
    ///
    /// - Parameters:
    ///   - videoParameterSets: NAL units of type 32.
    ///   - sequenceParameterSets: NAL units of type 33, at least one.
    ///   - pictureParameterSets: NAL units of type 34.
    ///   - isComplete: whether the samples have no parameter sets, as in "hvc1".
    ///   - nalLengthSize: size of the length prefixes in samples.
    /// - Throws: the error of reading the first SPS; `.missingParameterSet` without one.
    public init(
      videoParameterSets: [[UInt8]], sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]],
      isComplete: Bool = true, nalLengthSize: NALLengthSize = .four
    ) throws(BitstreamError) {
      guard let first = sequenceParameterSets.first else {
        throw BitstreamError(.missingParameterSet, "NAL_unit_type", bitOffset: 0)
      }
      let sps = try SequenceParameterSet.usable(first.span)
      profile = sps.profile
      levelIDC = sps.profileTierLevel.levelIDC
      minimumSpatialSegmentation = sps.vui?.bitstreamRestriction?.minimumSpatialSegmentation ?? 0
      chromaFormat = sps.chromaFormat
      // Three bits hold 15 at most.
      lumaBitDepth = min(sps.lumaBitDepth, 15)
      chromaBitDepth = min(sps.chromaBitDepth, 15)
      temporalLayerCount = sps.subLayerCount
      hasNestedTemporalIDs = sps.hasNestedTemporalIDs
      self.nalLengthSize = nalLengthSize
      arrays = []
      let all: [(NALUnitType, [[UInt8]])] = [
        (.videoParameterSet, videoParameterSets), (.sequenceParameterSet, sequenceParameterSets),
        (.pictureParameterSet, pictureParameterSets),
      ]
      for (type, units) in all where !units.isEmpty {
        arrays.append(NALUnitArray(type: type, isComplete: isComplete, nalUnits: units))
      }
      parallelism = minimumSpatialSegmentation == 0 ? 0 : Self.parallelism(pictureParameterSets)
    }

    /// `parallelismType`, if all PPS agree on it. Meaningless without `min_spatial_segmentation_idc`.
    private static func parallelism(_ pictureParameterSets: [[UInt8]]) -> UInt8 {
      var types: [UInt8] = []
      for unit in pictureParameterSets {
        do throws(BitstreamError) {
          let pps = try PictureParameterSet(nalUnit: unit.span)
          types.append(pps.usesWavefronts ? (pps.tiles != nil ? 0 : 3) : pps.tiles != nil ? 2 : 1)
        } catch {
          return 0
        }
      }
      guard let first = types.first, types.allSatisfy({ $0 == first }) else { return 0 }
      return first
    }

    /// Creates the record for all parameter sets of the base layer in a store.
    ///
    /// - Throws: as
    ///   ``init(videoParameterSets:sequenceParameterSets:pictureParameterSets:isComplete:nalLengthSize:)``.
    public init(
      _ parameterSets: borrowing ParameterSets, nalLengthSize: NALLengthSize = .four
    ) throws(BitstreamError) {
      try self.init(
        videoParameterSets: parameterSets.videoParameterSetNALUnits,
        sequenceParameterSets: parameterSets.sequenceParameterSetNALUnits,
        pictureParameterSets: parameterSets.pictureParameterSetNALUnits, nalLengthSize: nalLengthSize)
    }

    /// The record for "hev1" with all parameter sets in-band: this one without any.
    public var withoutParameterSets: DecoderConfigurationRecord {
      var record = self
      record.arrays = []
      record.trailingBytes = []
      return record
    }

    /// Reads a record. Empty NAL units in it are ignored, empty arrays are kept.
    ///
    /// - Throws: `.truncated` when it ends early, `.valueOutOfRange` for a NAL length size of three bytes,
    ///   `.unsupported` for other versions than 1 and 0, which early muxers wrote.
    public init(_ bytes: Span<UInt8>) throws(BitstreamError) {
      var reader = BitReader(bytes, removesEmulationPrevention: false)
      guard try reader.byte("configurationVersion") <= 1 else {
        throw BitstreamError(.unsupported, "configurationVersion", bitOffset: 0)
      }
      profile = try Profile(&reader)
      levelIDC = try reader.byte("general_level_idc")
      // The reserved bits in front should be 1, but some muxers write zeros.
      minimumSpatialSegmentation = UInt16(truncatingIfNeeded: try reader.u(16, "min_spatial_segmentation_idc") & 0xFFF)
      parallelism = try reader.byte("parallelismType") & 3
      chromaFormat = ChromaFormat(rawValue: try reader.byte("chromaFormat") & 3) ?? .yuv420
      lumaBitDepth = 8 + (try reader.byte("bitDepthLumaMinus8") & 7)
      chromaBitDepth = 8 + (try reader.byte("bitDepthChromaMinus8") & 7)
      averageFrameRate = UInt16(truncatingIfNeeded: try reader.u(16, "avgFrameRate"))
      constantFrameRate = try reader.u8(2, "constantFrameRate")
      temporalLayerCount = try reader.u8(3, "numTemporalLayers")
      hasNestedTemporalIDs = try reader.flag("temporalIdNested")
      let offset = reader.bitOffset
      guard let lengthSize = NALLengthSize(rawValue: try reader.u8(2, "lengthSizeMinusOne") + 1) else {
        throw BitstreamError(.valueOutOfRange, "lengthSizeMinusOne", bitOffset: offset)
      }
      nalLengthSize = lengthSize
      arrays = []
      for _ in 0..<(try reader.byte("numOfArrays")) { arrays.append(try NALUnitArray(&reader)) }
      while reader.remainingBits > 0 { trailingBytes.append(try reader.byte("trailing bytes")) }
      removeStartCodes()
    }

    /// Separates NAL units that a careless muxer has left in byte-stream format, one or several in the place of each.
    private mutating func removeStartCodes() {
      let found = arrays
      guard found.contains(where: { $0.nalUnits.contains { AnnexB.startCode(in: $0.span) != nil } }) else { return }
      hadStartCodes = true
      arrays = []
      for array in found {
        if array.nalUnits.isEmpty { arrays.append(array) }
        for nalUnit in array.nalUnits.flatMap({ LengthPrefixed.separated($0) }) {
          let type = NALUnitType(headerByte: nalUnit[0])
          if let index = arrays.firstIndex(where: { $0.type == type }) {
            arrays[index].nalUnits.append(nalUnit)
          } else {
            arrays.append(NALUnitArray(type: type, isComplete: array.isComplete, nalUnits: [nalUnit]))
          }
        }
      }
    }

    /// The record's bytes: the inverse of ``init(_:)``.
    ///
    /// - Throws: `.lengthNotRepresentable` when there are more arrays or NAL units than their count can express, or one
    ///   is longer than 65,535 bytes.
    public func bytes() throws(BitstreamError) -> [UInt8] {
      guard arrays.count <= 255 else {
        throw BitstreamError(.lengthNotRepresentable, "numOfArrays", bitOffset: 176)
      }
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.u(8, 1)
      profile.write(to: &writer)
      writer.u(8, UInt32(levelIDC))
      writer.u(16, 0xF000 | UInt32(minimumSpatialSegmentation))
      writer.u(8, 0xFC | UInt32(parallelism & 3))
      writer.u(8, 0xFC | UInt32(chromaFormat.rawValue))
      writer.u(8, 0xF8 | UInt32(max(8, lumaBitDepth) - 8))
      writer.u(8, 0xF8 | UInt32(max(8, chromaBitDepth) - 8))
      writer.u(16, UInt32(averageFrameRate))
      writer.u(2, UInt32(constantFrameRate))
      writer.u(3, UInt32(temporalLayerCount))
      writer.flag(hasNestedTemporalIDs)
      writer.u(2, UInt32(nalLengthSize.rawValue - 1))
      writer.u(8, UInt32(truncatingIfNeeded: arrays.count))
      for array in arrays { try array.write(to: &writer) }
      writer.append(trailingBytes)
      return writer.bytes
    }
  }
}

extension H265.DecoderConfigurationRecord.NALUnitArray {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    let first = try reader.byte("NAL_unit_type")
    isComplete = first & 0x80 != 0
    type = H265.NALUnitType(rawValue: first)
    nalUnits = []
    for _ in 0..<(try reader.u(16, "numNalus")) {
      let length = Int(try reader.u(16, "nalUnitLength"))
      // Reserve nothing that the data cannot fill.
      let unit = try reader.bytes(length, "nalUnit")
      if !unit.isEmpty { nalUnits.append(unit) }
    }
  }

  fileprivate func write(to writer: inout BitWriter) throws(BitstreamError) {
    guard nalUnits.count <= 0xFFFF else {
      throw BitstreamError(.lengthNotRepresentable, "numNalus", bitOffset: writer.bitCount)
    }
    writer.u(8, (isComplete ? 0x80 : 0) | UInt32(type.rawValue))
    writer.u(16, UInt32(truncatingIfNeeded: nalUnits.count))
    for unit in nalUnits {
      guard unit.count <= 0xFFFF else {
        throw BitstreamError(.lengthNotRepresentable, "nalUnitLength", bitOffset: writer.bitCount)
      }
      writer.u(16, UInt32(truncatingIfNeeded: unit.count))
      writer.append(unit)
    }
  }
}
