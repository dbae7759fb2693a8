// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// Returns a parameter set with the new ids of itself and of the sets that it refers to. All other bits stay.
  ///
  /// - Parameters:
  ///   - nalUnit: a VPS, SPS or PPS (types 32 to 34) of the base layer, header included.
  ///   - identifiers: the new ids.
  /// - Throws: `.wrongNALUnitType` for other types, `.unsupported` for other layers, `.valueOutOfRange` for an id that
  ///   H.265 does not have, and errors of reading.
  package static func rewritten(
    parameterSet nalUnit: Span<UInt8>, _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) -> [UInt8] {
    let header = try NALUnitHeader(nalUnit)
    guard header.layerID == 0 else { throw BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7) }
    var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
    var front = BitWriter(addsEmulationPrevention: false)
    switch header.type {
    case .videoParameterSet:
      let id = identifiers[VideoParameterSetID(try reader.u8(4, "vps_video_parameter_set_id"))]
      front.u(4, try checked(id.rawValue, upTo: 15, "vps_video_parameter_set_id"))
    case .sequenceParameterSet:
      let id = identifiers[VideoParameterSetID(try reader.u8(4, "sps_video_parameter_set_id"))]
      front.u(4, try checked(id.rawValue, upTo: 15, "sps_video_parameter_set_id"))
      var copied = reader
      let count = try reader.subLayerCount("sps_max_sub_layers_minus1")
      _ = try reader.flag("sps_temporal_id_nesting_flag")
      _ = try ProfileTierLevel(&reader, subLayerCount: Int(count))
      try copied.copy(to: reader.bitOffset, &front)
      try rewriteSequenceID(&reader, &front, identifiers, "sps_seq_parameter_set_id")
    case .pictureParameterSet:
      let id = identifiers[PictureParameterSetID(try reader.ue8(in: 0...63, "pps_pic_parameter_set_id"))]
      front.ue(try checked(id.rawValue, upTo: 63, "pps_pic_parameter_set_id"))
      try rewriteSequenceID(&reader, &front, identifiers, "pps_seq_parameter_set_id")
    default: throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1)
    }
    var output = [UInt8](copying: nalUnit.extracting(first: NALUnitHeader.byteCount))
    try RewrittenPayload(of: nalUnit, headerLength: NALUnitHeader.byteCount)
      .append(front, thenFrom: reader.bitOffset, to: &output)
    return output
  }

  /// Returns the kind and id of a parameter set.
  ///
  /// - Parameter nalUnit: a VPS, SPS or PPS of the base layer, header included.
  /// - Throws: `.wrongNALUnitType` for other types, `.unsupported` for other layers, and errors of reading.
  package static func name(ofParameterSet nalUnit: Span<UInt8>) throws(BitstreamError) -> ParameterSetName {
    let header = try NALUnitHeader(nalUnit)
    guard header.layerID == 0 else { throw BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7) }
    let kind: ParameterSetName.Kind
    switch header.type {
    case .videoParameterSet: kind = .video
    case .sequenceParameterSet: kind = .sequence
    case .pictureParameterSet: kind = .picture
    default: throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1)
    }
    return .init(kind, UInt8(truncatingIfNeeded: try ParameterSets.id(of: nalUnit, header)))
  }

  private static func rewriteSequenceID(
    _ reader: inout BitReader, _ front: inout BitWriter, _ identifiers: ParameterSetIdentifiers,
    _ element: StaticString
  ) throws(BitstreamError) {
    let id = identifiers[SequenceParameterSetID(try reader.ue8(in: 0...15, element))]
    front.ue(try checked(id.rawValue, upTo: 15, element))
  }

  private static func checked(
    _ id: UInt8, upTo maximum: UInt8, _ element: StaticString
  ) throws(BitstreamError) -> UInt32 {
    guard id <= maximum else { throw BitstreamError(.valueOutOfRange, element, bitOffset: 0) }
    return UInt32(id)
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
    let rewritten = try SEIMessages.edited(nalUnit, headerLength: NALUnitHeader.byteCount) {
      (message) throws(BitstreamError) in
      switch message.type {
      case .scalableNesting: throw BitstreamError(.unsupported, "scalable_nesting", bitOffset: 0)
      case .activeParameterSets:
        var active = try ActiveParameterSets(message)
        guard try message.payload() == active.payload() else {
          throw BitstreamError(.unsupported, "active_parameter_sets", bitOffset: 0)
        }
        active.videoParameterSetID = identifiers[active.videoParameterSetID]
        active.sequenceParameterSetIDs = active.sequenceParameterSetIDs.map { identifiers[$0] }
        return .replaced(active.payload())
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
