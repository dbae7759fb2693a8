// SPDX-License-Identifier: MPL-2.0

/// The first message of a session's process, sent when its protection is up and before it reads anything.
package struct ServiceReady: Sendable {
  /// The active layers of protection.
  package let protection: Protection
  /// The requested device.
  package let device: DeviceReport

  /// The process is ready behind `protection`.
  package init(protection: Protection, device: DeviceReport = .none) {
    self.protection = protection
    self.device = device
  }

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    protection = Protection(rawValue: try reader.read())
    device = try DeviceReport(reading: &reader)
    try reader.finish()
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    writer.append(protection.rawValue)
    device.write(to: &writer)
    return writer.bytes
  }
}
