// SPDX-License-Identifier: MPL-2.0

/// How much is held at most.
enum ParserLimits {
  /// The largest access unit in bytes: more is an error. In pull mode that much is held at most; in push mode the base
  /// class holds it a second time, in one piece.
  static let accessUnitSize = AccessUnitLimits.size
  /// Bytes to ask for at once where several access units go into one frame.
  static let batchSize = 64 << 10
  /// The same where one may fill a quarter of that: the incomplete one at the end is read again.
  static let largeBatchSize = 256 << 10
  /// Start code and header byte: with less there is nothing to look at.
  static let minimumInput = 4
}
