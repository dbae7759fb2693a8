// SPDX-License-Identifier: MPL-2.0

extension FormatDescription {
  /// Creates a description of H.264 parameter sets, in any order:
  /// `CMVideoFormatDescriptionCreateFromH264ParameterSets`.
  ///
  /// - Parameters:
  ///   - nalUnits: NAL units of types 7, 8, 13 and 15 without start codes. Only the first SPS is described.
  ///   - nalLengthSize: size of the stream's length prefixes; nil for start codes.
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading one of them.
  public init(h264ParameterSets nalUnits: [[UInt8]], nalLengthSize: NALLengthSize? = nil) throws(BitstreamError) {
    var sets = H264.ParameterSets()
    var first: SequenceParameterSetID?
    // SPSs first, since reading a PPS depends on its SPS: their order must make no difference.
    let isSequence = { (unit: [UInt8]) in (unit.first ?? 0) & 0x1F == H264.NALUnitType.sequenceParameterSet.rawValue }
    for unit in nalUnits.filter(isSequence) + nalUnits.filter({ !isSequence($0) }) {
      try sets.insert(unit.span)
      if first == nil, let type = unit.first, H264.NALUnitType(rawValue: type) == .sequenceParameterSet {
        first = try H264.SequenceParameterSet.usable(unit.span).id
      }
    }
    guard let first else {
      throw BitstreamError(
        .missingParameterSet, nalUnits.isEmpty ? "an empty list" : "a list without an SPS", bitOffset: 0)
    }
    try self.init(sets, sequenceParameterSetID: first, nalLengthSize: nalLengthSize)
  }

  /// Creates a description from a store.
  ///
  /// - Parameters:
  ///   - sets: all of them go into ``parameterSets``.
  ///   - sequenceParameterSetID: the SPS that is described, nil for the first there is.
  ///   - nalLengthSize: size of the stream's length prefixes; nil for start codes.
  /// - Throws: `.missingParameterSet` when the SPS is not there.
  public init(
    _ sets: borrowing H264.ParameterSets, sequenceParameterSetID: SequenceParameterSetID? = nil,
    nalLengthSize: NALLengthSize? = nil
  ) throws(BitstreamError) {
    var found: H264.SequenceParameterSet?
    if let sequenceParameterSetID {
      found = sets.sequenceParameterSet(sequenceParameterSetID)
    } else {
      for id in UInt8(0)..<32 where found == nil { found = sets.sequenceParameterSet(.init(id)) }
    }
    guard let sps = found else {
      throw BitstreamError(.missingParameterSet, "seq_parameter_set_id", bitOffset: 0)
    }
    var bytes = ParameterSetBytes()
    bytes.sequence = sets.sequenceParameterSetNALUnits
    if let index = bytes.sequence.firstIndex(where: { H264.ParameterSets.sequenceParameterSetID(of: $0.span) == sps.id }
    ), index > 0 {
      bytes.sequence.insert(bytes.sequence.remove(at: index), at: 0)
    }
    bytes.picture = sets.pictureParameterSetNALUnits
    bytes.sequenceExtensions = sets.extensionNALUnits
    bytes.subsets = sets.subsetSequenceParameterSetNALUnits
    self.init(sps, bytes, nalLengthSize: nalLengthSize)
    if let views = sets.subsetSequenceParameterSet(sps.id)?.viewIDs.count {
      compatibleProfileNames = sps.profile.compatibleProfiles(viewCount: views)
    }
  }

  /// Creates a description of an avcC record.
  ///
  /// - Throws: `.missingParameterSet` when it holds no SPS (as "avc3" records do), or the error of reading it.
  public init(decoderConfigurationRecord record: H264.DecoderConfigurationRecord) throws(BitstreamError) {
    try self.init(
      h264ParameterSets: record.sequenceParameterSets + record.pictureParameterSets
        + (record.high?.sequenceParameterSetExtensions ?? []), nalLengthSize: record.nalLengthSize)
  }

  /// The avcC record of this description, with lengths of four bytes if the stream has start codes.
  ///
  /// - Throws: what
  ///   ``H264/DecoderConfigurationRecord/init(sequenceParameterSets:pictureParameterSets:extensions:nalLengthSize:)``
  ///   throws.
  public func h264DecoderConfigurationRecord() throws(BitstreamError) -> H264.DecoderConfigurationRecord {
    try H264.DecoderConfigurationRecord(
      sequenceParameterSets: parameterSets.sequence, pictureParameterSets: parameterSets.picture,
      extensions: parameterSets.sequenceExtensions, nalLengthSize: nalLengthSize ?? .four)
  }

  private init(_ sps: H264.SequenceParameterSet, _ bytes: ParameterSetBytes, nalLengthSize: NALLengthSize?) {
    codec = .h264
    codedSize = sps.codedSize
    cropRectangle = sps.cropRectangle
    profileIDC = sps.profile.idc
    constraintFlags = sps.profile.constraintFlags
    profileName = sps.profile.name
    compatibleProfileNames = sps.profile.compatibleProfiles
    levelIDC = sps.levelIDC
    levelName = sps.level.name
    chromaFormat = sps.chromaFormat
    lumaBitDepth = Int(sps.lumaBitDepth)
    chromaBitDepth = Int(sps.chromaBitDepth)
    pixelAspectRatio = sps.vui?.sampleAspectRatio
    isFullRange = sps.vui?.videoSignal?.isFullRange
    colour = sps.vui?.videoSignal?.colour
    chromaSampleLocation = sps.vui?.chromaLocation?.topField
    frameRate = sps.frameRate
    tick = sps.vui?.timing.flatMap {
      $0.timeScale > 0 && $0.unitsInTick > 0 ? Tick(units: $0.unitsInTick, timeScale: $0.timeScale) : nil
    }
    maximumFrameRate =
      Double(sps.level.maximumMacroblocksPerSecond) / Double(max(1, sps.widthInMacroblocks * sps.heightInMacroblocks))
    isIntraOnly = sps.profile.isIntraOnly
    isInterlacedAllowed = !sps.isFrameOnly
    isPictureStructurePresent = sps.vui?.isPictureStructurePresent ?? false
    decodedPictureBufferFrames = sps.decodedPictureBufferFrames
    sentReorderFrames = sps.sentReorderFrames
    maximumReorderFrames = sps.maximumReorderFrames
    if let hrd = sps.vui?.nalHRD ?? sps.vui?.vclHRD, let last = hrd.buffers.last {
      buffering = Buffering(
        bitRate: hrd.bitRate(of: last), size: hrd.size(of: last), isConstantBitRate: last.isConstantBitRate)
    }
    parameterSets = bytes
    self.nalLengthSize = nalLengthSize
  }
}
