// SPDX-License-Identifier: MPL-2.0

/// What the application asks the starter for: a process for one session.
package struct ServiceRequest: Sendable {
  /// Bytes of memory of the process's own, libraries' data included; what application and process share is not counted.
  /// 0 for no limit.
  package var memoryLimit: UInt64
  /// Whether the process ends at once where the kernel lacks `Protection.essential`.
  package var requiresSandbox: Bool
  /// What the process tries when it is protected, instead of serving a session; a debug build's only.
  package var attempt: EscapeAttempt?
  /// Layers that a debug build does as if the kernel lacked them.
  package var withheld: Protection

  /// A process that serves a session.
  package init(
    memoryLimit: UInt64 = 0, requiresSandbox: Bool = false, attempt: EscapeAttempt? = nil, withheld: Protection = []
  ) {
    self.memoryLimit = memoryLimit
    self.requiresSandbox = requiresSandbox
    self.attempt = attempt
    self.withheld = withheld
  }

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    memoryLimit = try reader.read()
    requiresSandbox = try reader.read(UInt8.self) != 0
    attempt = EscapeAttempt(rawValue: try reader.read())
    withheld = Protection(rawValue: try reader.read())
    try reader.finish()
  }

  /// The message.
  package var bytes: [UInt8] {
    var writer = MessageWriter()
    writer.append(memoryLimit)
    writer.append(UInt8(requiresSandbox ? 1 : 0))
    writer.append(attempt?.rawValue ?? 0)
    writer.append(withheld.rawValue)
    return writer.bytes
  }
}
