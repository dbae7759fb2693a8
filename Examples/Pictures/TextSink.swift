// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Shows grey pictures as text: a line a picture, of its middle row.
///
/// The base class waits until it is a picture's time, unless `sync` is false.
final class TextSink: BaseSink {
  private var info: VideoInfo?

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Text sink", classification: "Sink/Video", description: "Shows grey pictures as text",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] { [.sink("video/x-raw, format=GRAY8")] }

  override func setCaps(_ caps: borrowing Caps) -> Bool {
    info = VideoInfo(caps)
    return info != nil
  }

  override func render(_ buffer: borrowing Buffer) throws(FlowError) {
    guard let info else { throw .notNegotiated }
    let time = segment.streamTime(of: buffer.pts).map { "\(Duration($0))" } ?? "-"
    let picture = try VideoFrameMap(buffer, info: info, for: .reading)
    let row = picture.row(picture.rowCount(ofPlane: 0) / 2, ofPlane: 0)
    let shades = Array(" .:-=+*#%@")
    print(String(row.indices.map { shades[Int(row[$0]) * shades.count / 256] }), time)
  }
}
