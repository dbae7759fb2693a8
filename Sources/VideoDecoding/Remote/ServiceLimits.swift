// SPDX-License-Identifier: MPL-2.0
import CodecLink

/// What a codec process may use, and what it must be behind.
package struct ServiceLimits: Sendable, Hashable {
  /// Bytes of memory of the process's own, without what it shares with the application; `nil` for no limit.
  package var memory: UInt64?
  /// Whether there is no process where `Protection.essential` is missing.
  package var requiresSandbox: Bool

  /// A limit of memory, or none; a sandbox as far as there is one, or one that is required.
  package init(memory: UInt64? = nil, requiresSandbox: Bool = false) {
    self.memory = memory
    self.requiresSandbox = requiresSandbox
  }

  var request: ServiceRequest { ServiceRequest(memoryLimit: memory ?? 0, requiresSandbox: requiresSandbox) }
}
