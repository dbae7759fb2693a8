// SPDX-License-Identifier: MPL-2.0

/// How much is held at most.
enum ParserLimits {
  /// The largest access unit: more is taken for an error rather than kept in memory. The largest pictures of the highest
  /// levels (8192 × 4320) have 53 million samples before compression. When the element pulls, that much is held at most;
  /// when it is pushed to, the base class holds it a second time, in one piece.
  static let accessUnitSize = 64 << 20
  /// Data to ask for at once, in bytes, where access units are cut together: many small ones.
  static let batchSize = 64 << 10
  /// The same where one may fill a quarter of that: what is left of the last one is read again.
  static let largeBatchSize = 256 << 10
  /// Start code and header byte: with less there is nothing to look at.
  static let minimumInput = 4
}
