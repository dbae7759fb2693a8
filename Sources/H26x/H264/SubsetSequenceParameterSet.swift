// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `subset_seq_parameter_set_rbsp()` (7.3.2.1.3): the SPS of scalable and multiview layers, NAL unit type 15.
  public struct SubsetSequenceParameterSet: Sendable, Hashable {
    /// The part that every SPS has.
    public var base: SequenceParameterSet

    /// `view_id[]` of `seq_parameter_set_mvc_extension()`: the views in decoding order; empty without one.
    public var viewIDs: [UInt16] = []

    /// Reads the NAL unit up to the MVC views. The SVC extension is not read.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, without start code or length prefix.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 15.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      guard header.type == .subsetSequenceParameterSet else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
      var reader = BitReader(nalUnit, from: header.byteCount, trace: trace)
      base = try SequenceParameterSet(&reader)
      guard [118, 128, 134].contains(base.profile.idc) else { return }
      guard try reader.flag("bit_equal_to_one") else {
        throw BitstreamError(.valueOutOfRange, "bit_equal_to_one", bitOffset: reader.bitOffset - 1)
      }
      let count = try reader.ue(in: 0...1023, "num_views_minus1") + 1
      for _ in 0..<count { viewIDs.append(UInt16(truncatingIfNeeded: try reader.ue(in: 0...1023, "view_id"))) }
    }
  }
}
