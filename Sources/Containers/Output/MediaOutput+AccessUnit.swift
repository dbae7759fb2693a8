// SPDX-License-Identifier: MPL-2.0

extension MediaOutput {
  /// An access unit.
  struct AccessUnit {
    var bytes: [UInt8]
    /// In nanoseconds.
    var presentation: Int64
    var decoding: Int64
    /// In nanoseconds; 0 if it is not known.
    var duration: Int64
    /// Decoders begin here: a random access point, or a picture of I slices in a stream that signals none. That is the
    /// parser's rule.
    var isKeyframe: Bool
    /// Set by ``CopyWriter``.
    var role = AccessUnitRole()
    /// The number of its format in ``CopyFormat``.
    var format = 0

    /// Decoding can begin here: the access unit is a sync sample (ISO/IEC 14496-12, 8.6.2).
    var isSync: Bool { role.start != .none }
  }
}
