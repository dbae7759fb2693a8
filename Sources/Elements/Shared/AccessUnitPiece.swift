// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A buffer of the input with its NAL units found: an access unit or a part of one.
protocol AccessUnitPiece {
  /// Bytes of the buffer.
  var size: Int { get }

  /// The NAL units, in order.
  var nalUnits: [Repackager.Entry] { get }

  /// Upstream has set MARKER: it is the last piece of an access unit.
  var isMarked: Bool { get }

  /// Lends the bytes that the ranges of ``nalUnits`` are offsets into.
  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result

  /// A piece of these NAL units alone, with its share of timestamps, flags and metas; nil if the buffer cannot be cut.
  func part(_ range: Range<Int>) throws(FlowError) -> Self?
}
