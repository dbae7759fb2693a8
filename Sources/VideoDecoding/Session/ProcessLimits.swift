// SPDX-License-Identifier: MPL-2.0
package import CodecLink

/// What a codec's process may use, and what it must be behind.
public struct ProcessLimits: Sendable, Hashable {
  /// What happens where the kernel lacks a part of the sandbox.
  public enum Sandbox: Sendable, CaseIterable {
    /// No session is created where system calls cannot be filtered; other layers may be missing.
    case required
    /// The session decodes behind those layers that there are, and ``SessionNotice/incompleteSandbox(missing:)`` lists
    /// the others.
    case bestEffort
  }

  /// How long the process may take to answer before it is ended, as lost. Answers of a drain are counted one by one.
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
