// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// The delay from a codec's input to its output.
package struct CodecStatus: Sendable, Hashable {
  /// Frames held back for reordering.
  package var reorderDepth = 0
  /// Frames held back by frame threads.
  package var threadDelay = 0

  /// Describes a codec's delays.
  package init(reorderDepth: Int = 0, threadDelay: Int = 0) {
    self.reorderDepth = reorderDepth
    self.threadDelay = threadDelay
  }
}

/// An event while a codec carries out an order.
package enum CodecEvent {
  /// Decoding of an access unit has ended, perhaps with an error; libavcodec found these errors in its picture.
  case decoded(index: UInt64, AVError?, FrameErrors)
  /// An error that has ended no decoding.
  case failed(index: UInt64, AVError)
  /// The picture of an access unit is decoded, and does not come out, because there is no memory to output it in.
  case unplaced(index: UInt64, AVError)
  /// A picture comes out; libavcodec found these errors in it.
  case picture(PictureDescription, PictureMemory, FrameErrors, isDraining: Bool, CodecStatus)
}
