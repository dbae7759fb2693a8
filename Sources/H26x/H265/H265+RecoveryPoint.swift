// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `recovery_point()` (D.2.8): when decoding starts here, a later picture and all after it are correct.
  public struct RecoveryPoint: Sendable, Hashable {
    /// `recovery_poc_cnt`: that picture's POC minus this one's, −32,768 to 32,767.
    public var pictureOrderCount: Int32
    /// `exact_match_flag`.
    public var isExactMatch: Bool
    /// `broken_link_flag`: pictures in front of the recovery point may be badly damaged.
    public var isBrokenLink: Bool

    /// `recovery_poc_cnt`.
    public var distance: Int { Int(pictureOrderCount) }

    /// Creates a recovery point.
    public init(pictureOrderCount: Int32, isExactMatch: Bool = true, isBrokenLink: Bool = false) {
      self.pictureOrderCount = pictureOrderCount
      self.isExactMatch = isExactMatch
      self.isBrokenLink = isBrokenLink
    }

    /// Reads a message of type ``SEIPayloadType/recoveryPoint``.
    ///
    /// - Throws: any ``BitstreamError``.
    public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
      var reader = message.reader
      pictureOrderCount = try reader.se(in: -32768...32767, "recovery_poc_cnt")
      isExactMatch = try reader.flag("exact_match_flag")
      isBrokenLink = try reader.flag("broken_link_flag")
    }

    /// The payload: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      writer.se(pictureOrderCount)
      writer.flag(isExactMatch)
      writer.flag(isBrokenLink)
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }
  }
}
