// SPDX-License-Identifier: MPL-2.0

extension MediaOutput {
  /// An access unit.
  struct AccessUnit {
    var bytes: [UInt8]
    /// In nanoseconds.
    var presentation: Int64
    var decoding: Int64
    /// In nanoseconds; 0 where that is not known.
    var duration: Int64
    var isSync: Bool
  }
}
