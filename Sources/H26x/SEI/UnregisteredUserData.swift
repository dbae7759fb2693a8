// SPDX-License-Identifier: MPL-2.0

/// `user_data_unregistered()` (D.1.7): data whose kind a UUID identifies.
public struct UnregisteredUserData: Sendable, Hashable {
  /// `uuid_iso_iec_11578`, 16 bytes.
  public let uuid: [UInt8]
  /// The data; may be empty.
  public let data: [UInt8]

  /// Reads a message of type ``SEIPayloadType/userDataUnregistered``.
  ///
  /// - Throws: `.truncated` when it is shorter than the UUID.
  public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
    var reader = message.reader
    uuid = try reader.bytes(16, "uuid_iso_iec_11578")
    data = try reader.bytes(message.size - 16, "user_data_payload_byte")
  }
}
