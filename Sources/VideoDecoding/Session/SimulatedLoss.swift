// SPDX-License-Identifier: MPL-2.0

/// How a session loses its codec when it is asked to, so that an application can test what it then does.
public enum SimulatedLoss: Sendable, Hashable, CaseIterable {
  /// The codec is lost once. The session opens another, which decodes again what is needed: no picture is missing, and
  /// ``SessionStatistics`` counts a restart.
  case recoverable
  /// No codec can be opened either, as often as ``SessionConfiguration/retries`` allows. The access unit fails, those
  /// after it are dropped as ``DropReason/sessionLost``, and decoding continues at the next random access point.
  case lasting
}
