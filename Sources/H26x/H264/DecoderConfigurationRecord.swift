// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `AVCDecoderConfigurationRecord`, "avcC" (ISO/IEC 14496-15, 5.3.3.1): the parameter sets out of band.
  public struct DecoderConfigurationRecord: Sendable, Hashable {
    /// `AVCProfileIndication` and `profile_compatibility`.
    public var profile: Profile
    /// `AVCLevelIndication`.
    public var levelIDC: UInt8
    /// `lengthSizeMinusOne` + 1.
    public var nalLengthSize: NALLengthSize
    /// NAL units of type 7 (and 15 if a writer put them here), in order. At most 31 can be written.
    public var sequenceParameterSets: [[UInt8]]
    /// NAL units of type 8, in order. At most 255 can be written.
    public var pictureParameterSets: [[UInt8]]
    /// The High profiles' extension; nil if the record ends before it.
    public var high: High?
    /// The bytes that follow, kept as they are.
    public var trailingBytes: [UInt8] = []
    /// Whether start codes were found in the record that was read. None belong there, and they were left out.
    package private(set) var hadStartCodes = false

    /// The High profiles' extension.
    public struct High: Sendable, Hashable {
      /// `chroma_format`.
      public var chromaFormat: ChromaFormat
      /// `bit_depth_luma_minus8` + 8, 8 to 15.
      public var lumaBitDepth: UInt8
      /// `bit_depth_chroma_minus8` + 8, 8 to 15.
      public var chromaBitDepth: UInt8
      /// NAL units of type 13, in order.
      public var sequenceParameterSetExtensions: [[UInt8]]
    }

    /// Creates the record for parameter sets.
    ///
    /// Profile, constraint flags and level come from the first SPS, without emulation prevention bytes; the extension
    /// is present when that profile has it.
    ///
    /// - Parameters:
    ///   - sequenceParameterSets: NAL units of type 7, at least one.
    ///   - pictureParameterSets: NAL units of type 8.
    ///   - extensions: NAL units of type 13.
    ///   - nalLengthSize: size of the length prefixes in samples.
    /// - Throws: the error of reading the first SPS; `.missingParameterSet` without one.
    public init(
      sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]], extensions: [[UInt8]] = [],
      nalLengthSize: NALLengthSize = .four
    ) throws(BitstreamError) {
      guard let first = sequenceParameterSets.first else {
        throw BitstreamError(.missingParameterSet, "sequenceParameterSetNALUnit", bitOffset: 0)
      }
      let sps = try SequenceParameterSet.usable(first.span)
      profile = sps.profile
      levelIDC = sps.levelIDC
      self.nalLengthSize = nalLengthSize
      self.sequenceParameterSets = sequenceParameterSets
      self.pictureParameterSets = pictureParameterSets
      if profile.hasHighSyntax {
        high = High(
          chromaFormat: sps.chromaFormat, lumaBitDepth: sps.lumaBitDepth, chromaBitDepth: sps.chromaBitDepth,
          sequenceParameterSetExtensions: extensions)
      }
    }

    /// Creates the record for all parameter sets of a store.
    ///
    /// - Throws: as ``init(sequenceParameterSets:pictureParameterSets:extensions:nalLengthSize:)``.
    public init(_ parameterSets: borrowing ParameterSets, nalLengthSize: NALLengthSize = .four) throws(BitstreamError) {
      try self.init(
        sequenceParameterSets: parameterSets.sequenceParameterSetNALUnits,
        pictureParameterSets: parameterSets.pictureParameterSetNALUnits, extensions: parameterSets.extensionNALUnits,
        nalLengthSize: nalLengthSize)
    }

    /// The record for "avc3", whose parameter sets are all in-band: this one without any.
    public var withoutParameterSets: DecoderConfigurationRecord {
      var record = self
      record.sequenceParameterSets = []
      record.pictureParameterSets = []
      record.high = nil
      record.trailingBytes = []
      return record
    }

    /// Reads a record. Empty NAL units in it are ignored.
    ///
    /// - Throws: `.truncated` when it ends early, `.valueOutOfRange` for a NAL length size of three bytes,
    ///   `.unsupported` for another version than 1.
    public init(_ bytes: Span<UInt8>) throws(BitstreamError) {
      var reader = BitReader(bytes, removesEmulationPrevention: false)
      guard try reader.byte("configurationVersion") == 1 else {
        throw BitstreamError(.unsupported, "configurationVersion", bitOffset: 0)
      }
      let idc = try reader.byte("AVCProfileIndication")
      profile = Profile(idc: idc, constraintFlags: try reader.byte("profile_compatibility"))
      levelIDC = try reader.byte("AVCLevelIndication")
      // The six reserved bits in front should be 1, but some muxers write zeros.
      let size = try reader.byte("lengthSizeMinusOne") & 3
      guard let lengthSize = NALLengthSize(rawValue: size + 1) else {
        throw BitstreamError(.valueOutOfRange, "lengthSizeMinusOne", bitOffset: 38)
      }
      nalLengthSize = lengthSize
      let sequenceCount = try reader.byte("numOfSequenceParameterSets") & 0x1F
      sequenceParameterSets = try Self.nalUnits(&reader, count: sequenceCount, "sequenceParameterSetNALUnit")
      let pictureCount = try reader.byte("numOfPictureParameterSets")
      pictureParameterSets = try Self.nalUnits(&reader, count: pictureCount, "pictureParameterSetNALUnit")
      var ahead = reader
      // Many muxers omit the extension. Its reserved bits, all 1, distinguish it from other bytes.
      if profile.hasHighSyntax, reader.remainingBits > 0, try ahead.byte("reserved") & 0xFC == 0xFC {
        high = try High(&reader)
      }
      while reader.remainingBits > 0 { trailingBytes.append(try reader.byte("trailing bytes")) }
      removeStartCodes()
    }

    /// Separates NAL units that a careless muxer has left in byte-stream format, one or several in the place of each.
    private mutating func removeStartCodes() {
      let sets = sequenceParameterSets + pictureParameterSets
      guard sets.contains(where: { AnnexB.startCode(in: $0.span) != nil }) else { return }
      hadStartCodes = true
      let nalUnits = sets.flatMap { LengthPrefixed.separated($0) }
      let isPicture = { (nalUnit: [UInt8]) in NALUnitType(headerByte: nalUnit[0]) == .pictureParameterSet }
      sequenceParameterSets = nalUnits.filter { !isPicture($0) && NALUnitType(headerByte: $0[0]).isParameterSet }
      pictureParameterSets = nalUnits.filter(isPicture)
    }

    /// The record's bytes: the inverse of ``init(_:)``.
    ///
    /// - Throws: `.lengthNotRepresentable` when there are more sets than their count can express, or one is longer than
    ///   65,535 bytes.
    public func bytes() throws(BitstreamError) -> [UInt8] {
      let extensions = high?.sequenceParameterSetExtensions ?? []
      guard sequenceParameterSets.count <= 31, pictureParameterSets.count <= 255, extensions.count <= 255 else {
        throw BitstreamError(.lengthNotRepresentable, "numOfSequenceParameterSets", bitOffset: 40)
      }
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.u(8, 1)
      writer.u(8, UInt32(profile.idc))
      writer.u(8, UInt32(profile.constraintFlags))
      writer.u(8, UInt32(levelIDC))
      writer.u(8, 0xFC | UInt32(nalLengthSize.rawValue - 1))
      writer.u(8, 0xE0 | UInt32(truncatingIfNeeded: sequenceParameterSets.count))
      try Self.write(sequenceParameterSets, to: &writer)
      writer.u(8, UInt32(truncatingIfNeeded: pictureParameterSets.count))
      try Self.write(pictureParameterSets, to: &writer)
      if let high {
        writer.u(8, 0xFC | UInt32(high.chromaFormat.rawValue))
        writer.u(8, 0xF8 | UInt32(max(8, high.lumaBitDepth) - 8))
        writer.u(8, 0xF8 | UInt32(max(8, high.chromaBitDepth) - 8))
        writer.u(8, UInt32(truncatingIfNeeded: extensions.count))
        try Self.write(extensions, to: &writer)
      }
      writer.append(trailingBytes)
      return writer.bytes
    }

    fileprivate static func nalUnits(
      _ reader: inout BitReader, count: UInt8, _ element: StaticString
    ) throws(BitstreamError) -> [[UInt8]] {
      var units: [[UInt8]] = []
      for _ in 0..<count {
        let length = Int(try reader.u(16, element))
        // Reserve nothing that the data cannot fill.
        guard length * 8 <= reader.remainingBits else {
          throw BitstreamError(.truncated, element, bitOffset: reader.bitOffset)
        }
        var unit: [UInt8] = []
        unit.reserveCapacity(length)
        for _ in 0..<length { unit.append(try reader.byte(element)) }
        if !unit.isEmpty { units.append(unit) }
      }
      return units
    }

    private static func write(_ units: [[UInt8]], to writer: inout BitWriter) throws(BitstreamError) {
      for unit in units {
        guard unit.count <= 0xFFFF else {
          throw BitstreamError(.lengthNotRepresentable, "parameterSetLength", bitOffset: writer.bitCount)
        }
        writer.u(16, UInt32(truncatingIfNeeded: unit.count))
        writer.append(unit)
      }
    }
  }
}

extension H264.DecoderConfigurationRecord.High {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    chromaFormat = ChromaFormat(rawValue: try reader.byte("chroma_format") & 3) ?? .yuv420
    lumaBitDepth = 8 + (try reader.byte("bit_depth_luma_minus8") & 7)
    chromaBitDepth = 8 + (try reader.byte("bit_depth_chroma_minus8") & 7)
    let count = try reader.byte("numOfSequenceParameterSetExt")
    sequenceParameterSetExtensions = try H264.DecoderConfigurationRecord.nalUnits(
      &reader, count: count, "sequenceParameterSetExtNALUnit")
  }
}
