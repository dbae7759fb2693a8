// SPDX-License-Identifier: MPL-2.0
package import CodecLink

/// The resources that a codec's process may use, and the protection that it needs.
public struct ProcessLimits: Sendable, Hashable {
  /// The behavior if the kernel lacks a part of the sandbox.
  public enum Sandbox: Sendable, CaseIterable {
    /// No session is created if system calls cannot be filtered; other layers may be missing.
    case required
    /// The session decodes behind the available layers, and ``SessionNotice/incompleteSandbox(missing:)`` lists the
    /// others.
    case bestEffort
  }

  /// The time that the process may take for an access unit. A slower process is ended, and counts as lost.
  public var timeout: Duration
  /// Bytes of memory of the process's own, pictures not counted, which it shares with the application; `nil` for no
  /// limit. Below some 100 MB nothing decodes.
  public var memory: UInt64?
  /// Whether the sandbox is required.
  public var sandbox: Sandbox

  /// Five seconds, no limit of memory, and the sandbox that there is, unless given otherwise.
  public init(timeout: Duration = .seconds(5), memory: UInt64? = nil, sandbox: Sandbox = .bestEffort) {
    self.timeout = timeout
    self.memory = memory
    self.sandbox = sandbox
  }

  package var request: ServiceRequest {
    ServiceRequest(memoryLimit: memory ?? 0, requiresSandbox: sandbox == .required)
  }
}
