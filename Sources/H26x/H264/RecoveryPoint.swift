// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `recovery_point()` (D.1.8): when decoding starts here, a later picture and all after it are correct.
  public struct RecoveryPoint: Sendable, Hashable {
    /// `recovery_frame_cnt`, in increments of `frame_num`, 0 to 65535.
    public var frameCount: UInt32
    /// `exact_match_flag`.
    public var isExactMatch: Bool
    /// `broken_link_flag`: pictures in front of the recovery point may be badly damaged.
    public var isBrokenLink: Bool
    /// `changing_slice_group_idc`, 0 to 2.
    public var changingSliceGroupIDC: UInt8

    /// `recovery_frame_cnt`.
    public var distance: Int { Int(frameCount) }

    /// Reads a message of type ``SEIPayloadType/recoveryPoint``.
    ///
    /// - Throws: any ``BitstreamError``.
    public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
      var reader = message.reader
      frameCount = try reader.ue(in: 0...65535, "recovery_frame_cnt")
      isExactMatch = try reader.flag("exact_match_flag")
      isBrokenLink = try reader.flag("broken_link_flag")
      changingSliceGroupIDC = try reader.u8(2, "changing_slice_group_idc")
    }

    /// The payload: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.ue(frameCount)
      writer.flag(isExactMatch)
      writer.flag(isBrokenLink)
      writer.u(2, UInt32(changingSliceGroupIDC))
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }
  }
}
