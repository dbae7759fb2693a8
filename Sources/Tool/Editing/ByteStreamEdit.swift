// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import H26x

/// Edits a byte stream access unit by access unit. Other bytes are copied.
struct ByteStreamEdit {
  private var splitter: any AccessUnitSplitting
  private var edit: VideoEdit

  init(_ codec: FormatDescription.Codec, _ edit: VideoEdit) {
    splitter = codec == .h264 ? AccessUnitSplitter<H264>() : AccessUnitSplitter<H265>()
    self.edit = edit
  }

  /// The edit, with its changes so far.
  var result: VideoEdit { edit }

  /// Edits the next bytes.
  ///
  /// - Parameters:
  ///   - bytes: more of the stream.
  ///   - isLast: nothing more comes.
  ///   - write: gets the edited stream, piece by piece.
  mutating func take(
    _ bytes: [UInt8], isLast: Bool, _ write: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    splitter.append(bytes)
    while let piece = splitter.next(isLast: isLast) {
      try write(piece.isAccessUnit ? edit.edit(piece.bytes) : piece.bytes)
    }
    if isLast { try edit.finish() }
    guard splitter.pendingCount <= AccessUnitLimits.size else {
      throw Failure("\(edit.source): no end of an access unit within \(AccessUnitLimits.size >> 20) MiB")
    }
  }
}
