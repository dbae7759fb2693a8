// SPDX-License-Identifier: MPL-2.0

/// A macroblock or coding unit, in the same terms for both codecs.
public struct BlockRecord: Sendable {
  /// The luma sample at the top left. In a field, and in a field macroblock of an MBAFF frame, rows of the macroblock
  /// pair are those of its upper or lower macroblock.
  public var x: UInt32 = 0
  /// The luma sample at the top left.
  public var y: UInt32 = 0
  /// Width and height in luma samples: 16 in H.264, 8 to 64 in H.265.
  public var size: UInt8 = 16
  /// Its kind. A block whose partitions differ is ``BlockKind/inter``.
  public var kind = BlockKind.intra
  /// Its partitions.
  public var partition = BlockPartition.whole
  /// Whether it is a field macroblock.
  public var isField = false
  /// `QPY`; 0 for PCM of H.264.
  public var lumaQP: Int8 = 0
  /// The QP of Cb, without the offset by bit depth.
  public var cbQP: Int8 = 0
  /// The QP of Cr.
  public var crQP: Int8 = 0
  /// The largest luma transform with coefficients, in samples: 4 to 32; 0 without one.
  public var transformSize: UInt8 = 0
  /// The coded reference indices of the quarters, by 4 × list + quarter; -1 for none, and if the vectors are those of
  /// neighbors.
  public var references = InlineArray<8, Int8>(repeating: -1)
  /// Coded vector differences.
  public var vectorDifferenceCount: UInt8 = 0
  /// Sum of the magnitudes of their components, in quarter samples.
  public var vectorDifferenceSum: UInt32 = 0
  /// Coefficients that are not 0, of all planes.
  public var coefficientCount: UInt32 = 0
  /// Sum of the coefficients' magnitudes.
  public var coefficientSum: UInt32 = 0
  /// The first bit, from the start of the NAL unit, without emulation prevention bytes.
  public var firstBit = 0
  /// Bits by kind.
  public var bits = BlockBits()

  /// Creates a record without content.
  public init() {}
}
