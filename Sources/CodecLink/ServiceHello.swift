// SPDX-License-Identifier: MPL-2.0

/// The first message of the starter to the application: which service it is. Its own pidfd comes with it.
package struct ServiceHello: Sendable {
  /// The version of the messages between application and service. Any change of their meaning needs another number.
  package static let protocolNumber: UInt32 = 8
  /// The first four bytes of the message.
  private static let magic: UInt32 = 0x6832_3678
  /// The longest text of a release that is read.
  private static let releaseLimit = 64

  /// The number of the service's protocol.
  package let protocolNumber: UInt32
  /// The release of the service, as bytes of its text.
  package let release: [UInt8]

  /// Announces a service of this protocol.
  package init(release: String) {
    self.protocolNumber = Self.protocolNumber
    self.release = Array(release.utf8.prefix(Self.releaseLimit))
  }

  /// Reads the message.
  ///
  /// - Throws: `LinkError.invalid` for anything that does not begin as one.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    guard try reader.read(UInt32.self) == Self.magic else { throw .invalid }
    protocolNumber = try reader.read()
    // Another protocol may have more behind it.
    release = try reader.readBytes(limit: Self.releaseLimit)
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    writer.append(Self.magic)
    writer.append(protocolNumber)
    writer.append(release)
    return writer.bytes
  }
}

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
