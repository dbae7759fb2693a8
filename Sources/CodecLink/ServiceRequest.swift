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

/// The starter's answer to a request. With a process come three descriptors: its socket, its pidfd, and the socket on
/// which the starter reports how it ended.
package struct ServiceAnswer: Sendable {
  /// The number of the request.
  package let number: UInt32
  /// The process that was made; `nil` if none was.
  package let processIdentifier: Int32?
  /// The reason no process was made: an `errno`.
  package let code: Int32

  /// A process was made.
  package init(number: UInt32, processIdentifier: Int32) {
    self.number = number
    self.processIdentifier = processIdentifier
    code = 0
  }

  /// None could be made.
  package init(number: UInt32, failure code: Int32) {
    self.number = number
    processIdentifier = nil
    self.code = code
  }

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    number = try reader.read()
    let process = try reader.read(Int32.self)
    processIdentifier = process > 0 ? process : nil
    code = try reader.read()
    try reader.finish()
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    writer.append(number)
    writer.append(processIdentifier ?? 0)
    writer.append(code)
    return writer.bytes
  }
}

/// The descriptors that the application hands its starter, beside the first three, which are /dev/null.
package enum StarterDescriptor {
  /// The socket for requests. A session's process has its own under the same number.
  package static let link: Int32 = 3
  /// The end of a pipe in which nothing comes: the kernel kills the starter when the application's end closes, a stopped
  /// starter too.
  package static let lifeline: Int32 = 4
  /// The last one.
  package static let last = lifeline
}
