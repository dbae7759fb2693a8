// SPDX-License-Identifier: MPL-2.0

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
