// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Returns a parameter set with the new ids of itself and of the sets that it refers to. All other bits stay.
  ///
  /// - Parameters:
  ///   - nalUnit: an SPS, subset SPS, SPS extension or PPS (types 7, 15, 13 and 8), header included.
  ///   - identifiers: the new ids.
  /// - Throws: `.wrongNALUnitType` for other types, `.valueOutOfRange` for an id that H.264 does not have, and errors of
  ///   reading.
  package static func rewritten(
    parameterSet nalUnit: Span<UInt8>, _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8] {
    let header = try NALUnitHeader(nalUnit)
    var reader = BitReader(nalUnit, from: header.byteCount)
    var front = BitWriter(addsEmulationPrevention: false)
    switch header.type {
    case .sequenceParameterSet, .subsetSequenceParameterSet:
      front.u(24, try reader.u(24, "profile_idc"))
      try rewriteSequenceID(&reader, &front, identifiers)
    case .sequenceParameterSetExtension:
      try rewriteSequenceID(&reader, &front, identifiers)
    case .pictureParameterSet:
      let id = PictureParameterSetID(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
      front.ue(UInt32(identifiers[id].rawValue))
      try rewriteSequenceID(&reader, &front, identifiers)
    default: throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
    }
    var output = [UInt8](copying: nalUnit.extracting(first: header.byteCount))
    try RewrittenPayload(of: nalUnit, headerLength: header.byteCount)
      .append(front, thenFrom: reader.bitOffset, to: &output)
    return output
  }

  /// Returns the kind and id of a parameter set.
  ///
  /// - Parameter nalUnit: an SPS, subset SPS, SPS extension or PPS, header included.
  /// - Throws: `.wrongNALUnitType` for other types, `.valueOutOfRange` for an id that H.264 does not have, and errors of
  ///   reading.
  package static func name(ofParameterSet nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetName {
    let header = try NALUnitHeader(nalUnit)
    var reader = BitReader(nalUnit, from: header.byteCount)
    switch header.type {
    case .sequenceParameterSet, .subsetSequenceParameterSet: _ = try reader.u(24, "profile_idc")
    case .sequenceParameterSetExtension: break
    case .pictureParameterSet: return .init(.picture, try reader.ue8(in: 0...255, "pic_parameter_set_id"))
    default: throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
    }
    return .init(.sequence, try reader.ue8(in: 0...31, "seq_parameter_set_id"))
  }

  private static func rewriteSequenceID(
    _ reader: inout BitReader, _ front: inout BitWriter, _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) {
    let start = reader.bitOffset
    let id = identifiers[SequenceParameterSetID(try reader.ue8(in: 0...31, "seq_parameter_set_id"))]
    guard id.rawValue <= 31 else { throw BitstreamError(.valueOutOfRange, "seq_parameter_set_id", bitOffset: start) }
    front.ue(UInt32(id.rawValue))
  }

  /// Returns an SEI NAL unit whose messages refer to parameter sets by their new ids.
  ///
  /// - Parameters:
  ///   - nalUnit: an SEI NAL unit, header included.
  ///   - sets: the parameter sets with their old ids.
  /// - Throws: `.unsupported` for a nesting of messages, and for a message with bits behind its syntax elements;
  ///   `.missingParameterSet`; errors of reading.
  package static func rewritten(
    sei nalUnit: Span<UInt8>, _ identifiers: ParameterSetIdentifiers, of sets: borrowing ParameterSets
  ) throws(BitstreamError) -> [UInt8] {
    let rewritten = try SEIMessages.edited(nalUnit, headerLength: 1) { (message) throws(BitstreamError) in
      switch message.type {
      case .multiviewNesting: throw BitstreamError(.unsupported, "mvc_scalable_nesting", bitOffset: 0)
      case .bufferingPeriod:
        var period = try BufferingPeriod(message, parameterSets: sets)
        guard let sps = sets.sequenceParameterSet(period.sequenceParameterSetID),
          try message.payload() == period.payload(sps: sps)
        else { throw BitstreamError(.unsupported, "buffering_period", bitOffset: 0) }
        period.sequenceParameterSetID = identifiers[period.sequenceParameterSetID]
        return .replaced(period.payload(sps: sps))
      default: return .unchanged
      }
    }
    return rewritten ?? [UInt8](copying: nalUnit)
  }
}
