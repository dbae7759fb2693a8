// SPDX-License-Identifier: MPL-2.0

extension FormatDescription {
  /// Creates a description of H.265 parameter sets, in any order:
  /// `CMVideoFormatDescriptionCreateFromHEVCParameterSets`.
  ///
  /// - Parameters:
  ///   - nalUnits: NAL units of types 32, 33 and 34 without start codes. Only the first SPS of the base layer is
  ///     described. An unreadable VPS is no error.
  ///   - nalLengthSize: size of the stream's length prefixes; nil for start codes.
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading one of them.
  public init(h265ParameterSets nalUnits: [[UInt8]], nalLengthSize: NALLengthSize? = nil) throws(BitstreamError) {
    var sets = H265.ParameterSets()
    var first: SequenceParameterSetID?
    for unit in nalUnits {
      try sets.insert(unit.span)
      let header = try H265.NALUnitHeader(unit.span)
      if first == nil, header.type == .sequenceParameterSet, header.layerID == 0 {
        first = H265.ParameterSets.sequenceParameterSetID(of: unit.span)
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
    _ sets: borrowing H265.ParameterSets, sequenceParameterSetID: SequenceParameterSetID? = nil,
    nalLengthSize: NALLengthSize? = nil
  ) throws(BitstreamError) {
    var found: H265.SequenceParameterSet?
    if let sequenceParameterSetID {
      found = sets.sequenceParameterSet(sequenceParameterSetID)
    } else {
      for id in UInt8(0)..<16 where found == nil { found = sets.sequenceParameterSet(.init(id)) }
    }
    guard let sps = found else {
      throw BitstreamError(.missingParameterSet, "sps_seq_parameter_set_id", bitOffset: 0)
    }
    var bytes = ParameterSetBytes()
    bytes.video = sets.videoParameterSetNALUnits
    bytes.sequence = sets.sequenceParameterSetNALUnits
    let isDescribed = { (unit: [UInt8]) in H265.ParameterSets.sequenceParameterSetID(of: unit.span) == sps.id }
    if let index = bytes.sequence.firstIndex(where: isDescribed), index > 0 {
      bytes.sequence.insert(bytes.sequence.remove(at: index), at: 0)
    }
    bytes.picture = sets.pictureParameterSetNALUnits
    self.init(sps, sets.videoParameterSet(sps.videoParameterSetID), bytes, nalLengthSize: nalLengthSize)
  }

  /// Creates a description of an hvcC record.
  ///
  /// - Throws: `.missingParameterSet` when it holds no SPS (as "hev1" records may), or the error of reading it.
  public init(decoderConfigurationRecord record: H265.DecoderConfigurationRecord) throws(BitstreamError) {
    try self.init(h265ParameterSets: record.parameterSets, nalLengthSize: record.nalLengthSize)
  }

  /// The hvcC record of this description, with lengths of four bytes if the stream has start codes.
  ///
  /// - Parameter isComplete: whether the samples have no parameter sets, as in "hvc1".
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading it.
  public func h265DecoderConfigurationRecord(
    isComplete: Bool = true
  ) throws(BitstreamError) -> H265.DecoderConfigurationRecord {
    try H265.DecoderConfigurationRecord(
      videoParameterSets: parameterSets.video, sequenceParameterSets: parameterSets.sequence,
      pictureParameterSets: parameterSets.picture, isComplete: isComplete, nalLengthSize: nalLengthSize ?? .four)
  }

  private init(
    _ sps: H265.SequenceParameterSet, _ vps: H265.VideoParameterSet?, _ bytes: ParameterSetBytes,
    nalLengthSize: NALLengthSize?
  ) {
    codec = .h265
    codedSize = sps.codedSize
    cropRectangle = sps.cropRectangle
    profileIDC = sps.profile.idc
    constraintFlags = UInt8(truncatingIfNeeded: sps.profile.constraints.rawValue >> 40)
    let name = sps.profileName
    profileName = name
    compatibleProfileNames = sps.profile.compatibleProfiles(of: name, chromaFormat: sps.chromaFormat)
    levelIDC = sps.level.idc
    levelName = sps.level.name
    tierName = sps.level.tierName
    chromaFormat = sps.chromaFormat
    lumaBitDepth = Int(sps.lumaBitDepth)
    chromaBitDepth = Int(sps.chromaBitDepth)
    pixelAspectRatio = sps.vui?.sampleAspectRatio
    isFullRange = sps.vui?.videoSignal?.isFullRange
    colour = sps.vui?.videoSignal?.colour
    chromaSampleLocation = sps.vui?.chromaLocation?.topField
    frameRate = sps.frameRate(vps)
    tick = (sps.vui?.timing ?? vps?.timing).flatMap {
      $0.timeScale > 0 && $0.unitsInTick > 0
        ? Tick(units: $0.unitsInTick, timeScale: $0.timeScale, perFrame: sps.isFieldSequence ? 2 : 1) : nil
    }
    maximumFrameRate =
      Double(sps.level.maximumLumaSampleRate) / Double(max(1, sps.codedSize.width * sps.codedSize.height))
    isIntraOnly = sps.profile.isIntraOnly
    isInterlacedAllowed = sps.isFieldSequence || sps.profile.constraints.contains(.interlacedSource)
    isFieldSequence = sps.isFieldSequence
    isPictureStructurePresent = sps.vui?.isPictureStructurePresent ?? false
    let fields = sps.isFieldSequence ? 2 : 1
    decodedPictureBufferFrames = (sps.decodedPictureBufferPictures + fields - 1) / fields
    sentReorderFrames = sps.maximumReorderFrames
    maximumReorderFrames = sps.maximumReorderFrames
    if let hrd = sps.vui?.timing?.hrdParameters ?? vps?.hrdParameters.first?.parameters,
      let layer = hrd.subLayers.last, let last = layer.nal.last ?? layer.vcl.last
    {
      buffering = Buffering(
        bitRate: hrd.bitRate(of: last), size: hrd.size(of: last), isConstantBitRate: last.isConstantBitRate)
    }
    parameterSets = bytes
    self.nalLengthSize = nalLengthSize
  }
}
