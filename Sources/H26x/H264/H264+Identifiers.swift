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

  private static func rewriteSequenceID(
    _ reader: inout BitReader, _ front: inout BitWriter, _ identifiers: ParameterSetIdentifiers
  ) throws(BitstreamError) {
    let start = reader.bitOffset
    let id = identifiers[SequenceParameterSetID(try reader.ue8(in: 0...31, "seq_parameter_set_id"))]
    guard id.rawValue <= 31 else { throw BitstreamError(.valueOutOfRange, "seq_parameter_set_id", bitOffset: start) }
    front.ue(UInt32(id.rawValue))
  }
}
