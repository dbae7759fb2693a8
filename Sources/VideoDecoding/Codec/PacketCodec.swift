// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// The calls of libavcodec that decoding needs. Tests make them fail.
package protocol PacketCodec: AnyObject {
  /// Sends a packet.
  func send(_ packet: Packet) throws(AVError)
  /// Begins to drain: no packet follows.
  func sendEndOfStream() throws(AVError)
  /// Receives a frame.
  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception
  /// The errors in pictures of a packet whose decoding has ended.
  func takeErrors(timestamp: Int64) -> FrameErrors
  /// Discards everything.
  func flush()
  /// Frames held back for reordering.
  var reorderDepth: Int { get }
  /// Frames held back by frame threads.
  var threadDelay: Int { get }
  /// Pictures to skip.
  var skip: CodecSettings.Skip { get set }
}

extension CodecContext: PacketCodec {}
