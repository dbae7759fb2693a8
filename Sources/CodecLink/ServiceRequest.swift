// SPDX-License-Identifier: MPL-2.0

/// The application's request to the starter: a process for one session.
package struct ServiceRequest: Sendable {
  /// Bytes of memory of the process's own, libraries' data included; what application and process share is not counted.
  /// 0 for no limit.
  package var memoryLimit: UInt64
  /// Whether the process ends immediately if the kernel lacks `Protection.essential`.
  package var requiresSandbox: Bool
  /// The device that the process opens before it is protected; only in processes of the starter for hardware.
  package var device: DeviceRequest?

  /// A process that serves a session.
  package init(memoryLimit: UInt64 = 0, requiresSandbox: Bool = false, device: DeviceRequest? = nil) {
    self.device = device
    self.memoryLimit = memoryLimit
    self.requiresSandbox = requiresSandbox
  }

  /// Reads the message behind its number.
  package init(reading reader: inout MessageReader) throws(LinkError) {
    memoryLimit = try reader.read()
    requiresSandbox = try reader.read(UInt8.self) != 0
    device = try DeviceRequest(reading: &reader)
    try reader.finish()
  }

  /// The message, with a number that the answer repeats.
  package func bytes(number: UInt32) -> [UInt8] {
    var writer = MessageWriter()
    writer.append(number)
    writer.append(memoryLimit)
    writer.append(UInt8(requiresSandbox ? 1 : 0))
    DeviceRequest.write(device, to: &writer)
    return writer.bytes
  }
}
