// SPDX-License-Identifier: MPL-2.0

/// The way in which ``DecompressionSession/simulateLoss(_:)`` makes a session lose its codec, so that an application
/// can test how it handles that.
public enum SimulatedLoss: Sendable, Hashable, CaseIterable {
  /// The codec is lost once. The session opens another, which decodes the necessary access units again: no picture is
  /// missing, and ``SessionStatistics`` counts a restart.
  case recoverable
  /// No codec can be opened either, as often as ``SessionConfiguration/retries`` allows. The access unit fails, the
  /// access units after it are dropped as ``DropReason/sessionLost``, and decoding continues at the next random
  /// access point.
  case lasting
}
