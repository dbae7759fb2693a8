// SPDX-License-Identifier: MPL-2.0

/// A level by its number, the same for both codecs.
public struct StreamLevel: Sendable, Hashable {
  /// Ten times the number: 41 for 4.1.
  public let tenths: UInt8
  /// Level 1b of H.264, whose number is 1.1's or 0.9.
  public let is1b: Bool

  /// Creates a level from ten times its number.
  public init(tenths: UInt8) { (self.tenths, is1b) = (tenths, false) }

  private init() { (tenths, is1b) = (11, true) }

  /// Level 1b of H.264.
  public static var level1b: Self { Self() }

  /// Reads "4.1", "4" or "1b"; nil for other text.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    func digit(_ index: Int) -> UInt8? { (48...57).contains(bytes[index]) ? bytes[index] - 48 : nil }
    switch bytes.count {
    case 1:
      guard let whole = digit(0) else { return nil }
      self.init(tenths: whole * 10)
    case 2:
      guard bytes[0] == 49, bytes[1] == 98 else { return nil }
      self.init()
    case 3:
      guard let whole = digit(0), bytes[1] == 46, let part = digit(2) else { return nil }
      self.init(tenths: whole * 10 + part)
    default: return nil
    }
  }
}

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

/// The property of a stream for which a level has no room.
package enum LevelExcess: Sendable, Hashable {
  /// There is no SPS, or no such level.
  case unknown
  /// Macroblocks or luma samples of a picture.
  case size(UInt64, limit: UInt64)
  /// Frames that the decoded picture buffer has to hold.
  case buffer(Int)
  /// Macroblocks or luma samples a second.
  case rate(UInt64, limit: UInt64)
  /// Bits a second.
  case bitRate(UInt64, limit: UInt64)
  /// The number of an access unit that has not arrived when it is decoded, from 0, and the buffer of the level.
  case late(Int, bitRate: UInt64, codedBuffer: UInt64)
  /// Slice segments of a picture.
  case sliceSegments(Int, limit: Int)
  /// Columns of tiles.
  case tileColumns(Int, limit: Int)
  /// Rows of tiles.
  case tileRows(Int, limit: Int)
}
