// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// All that a session asks of a codec: the line at which tests make it fail.
package protocol CodecBoundary: AnyObject {
  /// Hands over a packet.
  func send(_ packet: Packet) throws(AVError)
  /// Says that no packet follows.
  func sendEndOfStream() throws(AVError)
  /// Fetches a frame.
  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception
  /// What went wrong with the pictures of a packet whose decoding has ended.
  func takeErrors(timestamp: Int64) -> FrameErrors
  /// Forgets everything.
  func flush()
  /// Frames held back for reordering.
  var reorderDepth: Int { get }
  /// Frames held back by frame threads.
  var threadDelay: Int { get }
  /// Pictures to leave out.
  var skip: CodecSettings.Skip { get set }
}

extension CodecContext: CodecBoundary {}

/// Opens a codec.
package typealias CodecOpener = (CodecSettings, any FrameBufferSource) throws(AVError) -> any CodecBoundary
