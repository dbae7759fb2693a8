// SPDX-License-Identifier: MPL-2.0

package import H26x

/// The bins of a coded picture against its bytes (7.4.2.10 of H.264; 7.4.3.10 of H.265).
///
/// A decoder takes its time for bins, not for bits. An encoder whose bits have too many of them appends
/// `cabac_zero_word`s, which make the picture larger.
public struct PictureBins: Sendable, Hashable {
  /// `BinCountsInNALunits`: the bins of its slices.
  public private(set) var binCount: UInt64 = 0
  /// `NumBytesInVclNALunits`: the bytes of its slices, including headers, emulation prevention bytes and
  /// `cabac_zero_word`s.
  public private(set) var byteCount: UInt64 = 0
  /// The bits of its samples, as the formats define them: `RawMbBits` × `PicSizeInMbs` in H.264, `RawMinCuBits` ×
  /// `PicSizeInMinCbsY` in H.265.
  public var rawBits: UInt64 = 0

  /// Creates counts of 0.
  public init() {}

  /// Adds a slice or slice segment of so many bytes.
  public mutating func add(_ extent: SliceExtent, byteCount: Int) {
    binCount &+= UInt64(clamping: extent.binCount)
    self.byteCount &+= UInt64(clamping: byteCount)
  }

  /// The most bins that the picture may have: 32 / 3 for a byte, and 1 / 32 for a bit of its samples.
  public var limit: UInt64 { (1024 &* byteCount &+ 3 &* rawBits) / 96 }
}

extension H264.SequenceParameterSet {
  /// `RawMbBits` (7-4): the bits of a macroblock's samples, of one color plane if they are coded apart.
  package var rawMacroblockBits: Int {
    LimitChecker.rawBits(256, chromaArrayType, lumaBitDepth: lumaBitDepth, chromaBitDepth: chromaBitDepth)
  }
}

extension H265.SequenceParameterSet {
  /// `RawMinCuBits` × `PicSizeInMinCbsY` (7.4.3.10): in 4:0:0, it counts two planes of chroma too.
  package var rawPictureBits: UInt64 {
    let share =
      switch chromaFormat {
      case .monochrome, .yuv444: 1
      case .yuv422: 2
      case .yuv420: 4
      }
    let bits = Int(lumaBitDepth) + 2 * Int(chromaBitDepth) / share
    return UInt64(clamping: codedSize.width) &* UInt64(clamping: codedSize.height) &* UInt64(clamping: bits)
  }
}
