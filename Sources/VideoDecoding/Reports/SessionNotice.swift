// SPDX-License-Identifier: MPL-2.0

/// A report to the user besides the results of access units. Fetched with `DecompressionSession.nextNotice()`.
public enum SessionNotice: Sendable, Hashable {
  /// The codec was lost, and `SessionConfiguration.retries` attempts to restart it have failed. The pictures that it
  /// held were output. Decoding continues at the next random access point; until then `DecompressionSession.isLost`
  /// is true and access units are dropped as `sessionLost`. If every picture so far has come, the notice comes only
  /// with the first access unit that is dropped, and not at all if none is.
  case codecLost(DecodeError)
  /// No random access point came within `SessionConfiguration.startPatience`, or before the end: decoding began without
  /// one, and pictures are flagged as corrupt.
  case beganWithoutRandomAccessPoint
  /// Software decodes in place of the device (``SessionConfiguration/Hardware/preferred``), for this reason. Comes
  /// once.
  case softwareFallback(reason: String)
  /// The codec is in a process of its own, and the kernel lacks these layers of protection around it. Comes once.
  case incompleteSandbox(missing: String)
}
