// SPDX-License-Identifier: MPL-2.0

/// The starter's answer to a request. With a process come three descriptors: its socket, its pidfd, and the pipe in
/// which the starter reports how it ended.
package enum ServiceAnswer: Sendable {
  /// The process runs.
  case begun(processIdentifier: Int32)
  /// It could not be made, with this `errno`.
  case failed(Int32)

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    let (process, code) = (try reader.read(Int32.self), try reader.read(Int32.self))
    try reader.finish()
    self = process > 0 ? .begun(processIdentifier: process) : .failed(code)
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .begun(let process):
      writer.append(process)
      writer.append(Int32(0))
    case .failed(let code):
      writer.append(Int32(0))
      writer.append(code)
    }
    return writer.bytes
  }
}
