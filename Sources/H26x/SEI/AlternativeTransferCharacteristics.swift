// SPDX-License-Identifier: MPL-2.0

/// `alternative_transfer_characteristics()` (D.1.32): the transfer that should be used instead of the VUI's.
public struct AlternativeTransferCharacteristics: Sendable, Hashable {
  /// `preferred_transfer_characteristics`, a code point of H.273.
  public var preferredTransfer: UInt8

  /// Reads a message of type ``SEIPayloadType/alternativeTransferCharacteristics``.
  ///
  /// - Throws: `.truncated`.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    preferredTransfer = try reader.byte("preferred_transfer_characteristics")
  }
}
