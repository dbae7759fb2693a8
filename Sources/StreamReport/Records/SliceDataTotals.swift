// SPDX-License-Identifier: MPL-2.0
import Slices

/// How much slice data was read, and how much was not.
public struct SliceDataTotals: Sendable {
  /// Slices that were read to their end. In H.265, each slice segment counts.
  public var slices: UInt64 = 0
  /// Macroblocks or coding tree blocks of these slices.
  public var blocks: UInt64 = 0
  /// Bits of slice data in these slices.
  public var bits: UInt64 = 0
  /// Slices that are damaged, each with a finding.
  public var damaged: UInt64 = 0

  // MARK: Skipped

  /// Slices of other layers, other views and auxiliary pictures, and NAL units of reserved types.
  public var otherLayers: UInt64 = 0
  /// Slices whose header cannot be read, or whose parameter sets are missing.
  public var unreadableHeaders: UInt64 = 0
  /// Dependent slice segments behind a segment that is missing or damaged.
  public var dependentSegments: UInt64 = 0
  /// Slices with syntax that this library does not read.
  public var unsupported: UInt64 = 0

  // MARK: Peculiarities

  /// Slices that end in their last byte but not on its stop bit, as x264 writes them.
  public var marked: UInt64 = 0
  /// Slices with `cabac_zero_word`s.
  public var withZeroWords: UInt64 = 0
  /// Slices whose data partition B or C is missing.
  public var withoutPartitions: UInt64 = 0

  /// Slices that were not read.
  public var skipped: UInt64 { otherLayers + unreadableHeaders + dependentSegments + unsupported }

  init() {}

  mutating func add(_ other: SliceDataTotals) {
    slices += other.slices
    blocks += other.blocks
    bits += other.bits
    damaged += other.damaged
    otherLayers += other.otherLayers
    unreadableHeaders += other.unreadableHeaders
    dependentSegments += other.dependentSegments
    unsupported += other.unsupported
    marked += other.marked
    withZeroWords += other.withZeroWords
    withoutPartitions += other.withoutPartitions
  }

  mutating func add(_ extent: SliceExtent) {
    slices += 1
    blocks += UInt64(clamping: extent.blockCount)
    bits += UInt64(clamping: extent.dataBits)
    if extent.notes.contains(.markInLastByte) { marked += 1 }
    if extent.notes.contains(.zeroWords) { withZeroWords += 1 }
    if extent.notes.contains(.missingPartitions) { withoutPartitions += 1 }
  }
}
