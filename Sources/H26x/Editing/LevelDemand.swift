// SPDX-License-Identifier: MPL-2.0

/// The demands on a level, beside the values of the parameter sets.
public struct LevelDemand: Sendable, Hashable {
  /// Frames a second, if the parameter sets do not have them; nil if that is not known either.
  public var frameRate: Ratio?
  /// The highest bit rate in bits a second; nil if it is not known, and any is taken to fit.
  public var bitRate: UInt64?
  /// The most slice segments of a picture, which only H.265 limits; 0 when that is not known.
  package var sliceSegments = 0
  /// The access units in decoding order, as they pass through the coded picture buffer; none when they are not known.
  package var accessUnits: [AccessUnit] = []

  /// Creates a demand.
  public init(frameRate: Ratio? = nil, bitRate: UInt64? = nil) {
    (self.frameRate, self.bitRate) = (frameRate, bitRate)
  }

  /// An access unit, as it concerns the coded picture buffer.
  package struct AccessUnit: Sendable, Hashable {
    /// All of its bits.
    package var bits: UInt64
    /// Bits of its VCL NAL units and filler data.
    package var codedBits: UInt64
    /// Seconds since the access unit before it; nil if they are not known, and are taken to fill the buffer.
    package var seconds: Double?

    package init(bits: UInt64, codedBits: UInt64, seconds: Double?) {
      (self.bits, self.codedBits, self.seconds) = (bits, codedBits, seconds)
    }
  }
}
