// SPDX-License-Identifier: MPL-2.0

/// How ``DecompressionSession/simulateLoss(_:)`` makes a session lose its codec, so that an application can test how it
/// handles that.
public enum SimulatedLoss: Sendable, Hashable, CaseIterable {
  /// The codec is lost once. The session opens another, which decodes again what is needed: no picture is missing, and
  /// ``SessionStatistics`` counts a restart.
  case recoverable
  /// No codec can be opened either, as often as ``SessionConfiguration/retries`` allows. The access unit fails, those
  /// after it are dropped as ``DropReason/sessionLost``, and decoding continues at the next random access point.
  case lasting
}
