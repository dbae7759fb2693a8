// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A buffer of the input with its NAL units found: an access unit or a part of one.
///
/// A class, because buffers and frames cannot be copied and an array holds only what can.
protocol AccessUnitPiece: AnyObject {
  /// The NAL units, in order.
  var nalUnits: [Repackager.Entry] { get }

  /// Upstream says that it is the last of an access unit (the MARKER flag).
  var isMarked: Bool { get }

  /// Lends the bytes that the places of ``nalUnits`` count in.
  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result

  /// A piece of these NAL units alone, with its share of timestamps, flags and metas; nil where buffers cannot be cut.
  func part(_ range: Range<Int>) throws(FlowError) -> Self?
}
