// SPDX-License-Identifier: MPL-2.0

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
