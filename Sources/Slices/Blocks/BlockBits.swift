// SPDX-License-Identifier: MPL-2.0

/// The bits of a block by kind. With arithmetic coding a syntax element has no whole number of bits: each kind counts
/// the bits that the decoding engine has read meanwhile.
public struct BlockBits: Sendable, Hashable {
  /// Skip flags, types, sizes, coded block patterns, transform sizes and QP differences.
  public var header: UInt32 = 0
  /// Intra prediction modes.
  public var prediction: UInt32 = 0
  /// Reference indices and vector differences.
  public var motion: UInt32 = 0
  /// Luma coefficients and samples.
  public var luma: UInt32 = 0
  /// Chroma coefficients and samples.
  public var chroma: UInt32 = 0

  /// Creates counts of 0.
  public init() {}

  /// All bits.
  public var total: UInt32 { header &+ prediction &+ motion &+ luma &+ chroma }
}
