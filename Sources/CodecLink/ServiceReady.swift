// SPDX-License-Identifier: MPL-2.0

/// The first message of a session's process, sent when its protection is up and before it reads anything.
package struct ServiceReady: Sendable {
  /// What is in force.
  package let protection: Protection

  /// The process is ready behind `protection`.
  package init(protection: Protection) { self.protection = protection }

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    protection = Protection(rawValue: try reader.read())
    try reader.finish()
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    writer.append(protection.rawValue)
    return writer.bytes
  }
}
