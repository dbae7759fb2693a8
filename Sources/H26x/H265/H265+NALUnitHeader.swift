// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `nal_unit_header()` (7.3.1.2): the first two bytes of a NAL unit.
  public struct NALUnitHeader: Sendable, Hashable {
    /// Length of the header in bytes.
    public static let byteCount = 2

    /// `nal_unit_type`.
    public var type: NALUnitType
    /// `nuh_layer_id`, 0 to 63: 0 for the base layer.
    public var layerID: UInt8
    /// `nuh_temporal_id_plus1` − 1, 0 to 6: the temporal sub-layer.
    public var temporalID: UInt8

    /// Creates a header.
    public init(type: NALUnitType, layerID: UInt8 = 0, temporalID: UInt8 = 0) {
      self.type = type
      self.layerID = layerID
      self.temporalID = temporalID
    }

    /// Reads the header at the front of a NAL unit.
    ///
    /// - Throws: `.truncated`, `.forbiddenBitSet`, `.valueOutOfRange` when `nuh_temporal_id_plus1` is 0.
    @inline(__always)
    public init(_ nalUnit: Span<UInt8>) throws(BitstreamError) {
      guard nalUnit.count >= Self.byteCount else { throw BitstreamError(.truncated, "nal_unit_header", bitOffset: 0) }
      let (first, second) = (nalUnit[0], nalUnit[1])
      guard first & 0x80 == 0 else { throw BitstreamError(.forbiddenBitSet, "forbidden_zero_bit", bitOffset: 0) }
      guard second & 7 != 0 else { throw BitstreamError(.valueOutOfRange, "nuh_temporal_id_plus1", bitOffset: 13) }
      type = NALUnitType(headerByte: first)
      layerID = (first & 1) << 5 | second >> 3
      temporalID = (second & 7) &- 1
    }

    /// Reads the header of a NAL unit that must be of one type.
    ///
    /// - Throws: as ``init(_:)``, and `.wrongNALUnitType`.
    init(_ nalUnit: Span<UInt8>, of type: NALUnitType) throws(BitstreamError) {
      try self.init(nalUnit)
      guard self.type == type else { throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1) }
    }

    /// Writes the two bytes: the inverse of ``init(_:)``.
    public func write(to writer: inout BitWriter) {
      writer.u(7, UInt32(type.rawValue))
      writer.u(6, UInt32(layerID))
      writer.u(3, UInt32(min(temporalID, 6)) + 1)
    }
  }
}
