// SPDX-License-Identifier: MPL-2.0

/// The part of a picture that a slice covers, and the data that it takes.
public struct SliceExtent: Sendable, Hashable {
  /// The address of the first block: a macroblock, or a coding tree block in tile scan.
  public var firstBlock: Int
  /// The number of blocks.
  public var blockCount: Int
  /// The address behind the last block, in coding order: where the next slice of the picture begins, unless the
  /// slices may come in any order.
  public var endBlock: Int
  /// The bits of slice data, without emulation prevention bytes, header and trailing bits.
  public var dataBits: Int
  /// The bins of arithmetic coding; 0 without it.
  public var binCount: Int
  /// Peculiarities that are no damage.
  public var notes: Notes = []

  /// Peculiarities that are no damage.
  public struct Notes: OptionSet, Sendable, Hashable {
    /// A bit a note.
    public let rawValue: UInt8

    /// Creates a set.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Arithmetic coding ended in the last byte, but not on its stop bit. Some encoders write a mark there.
    public static let markInLastByte = Notes(rawValue: 1)
    /// `cabac_zero_word`s follow.
    public static let zeroWords = Notes(rawValue: 2)
    /// Data partitions are missing: the coefficients in them were not read.
    public static let missingPartitions = Notes(rawValue: 4)
  }

  /// Creates an extent.
  public init(
    firstBlock: Int, blockCount: Int, endBlock: Int, dataBits: Int, binCount: Int = 0, notes: Notes = []
  ) {
    self.firstBlock = firstBlock
    self.blockCount = blockCount
    self.endBlock = endBlock
    self.dataBits = dataBits
    self.binCount = binCount
    self.notes = notes
  }
}
