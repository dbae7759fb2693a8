// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Makes grey pictures, dark on the left and bright on the right, each a little brighter than the one before.
///
/// A push source has one method to write. Its thread calls it again and again, until it throws `endOfStream`.
final class GradientSource: PushSource {
  struct Settings: Sendable { var pictures: UInt64 = 8 }
  let settings = Locked(Settings())
  private var count: UInt64 = 0
  private var info: VideoInfo?

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Gradient source", classification: "Source/Video", description: "Makes grey pictures",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.source("video/x-raw, format=GRAY8, width=[8,1024], height=[8,1024], framerate=[1/1,60/1]")]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: GradientSource) in element.settings }, defaults: Settings(),
      [.uint64("pictures", \.pictures, in: 0...UInt64.max, "Pictures before the stream ends")])
  }

  override func prepareToStream() {
    count = 0
    // Time is what buffers are counted by, and not bytes.
    setTimeFormat()
  }

  /// What downstream has chosen of the template.
  override func setCaps(_ caps: borrowing Caps) -> Bool {
    info = VideoInfo(caps)
    return info != nil
  }

  override func nextBuffer() throws(FlowError) -> Buffer {
    guard count < settings.snapshot.pictures else { throw .endOfStream }
    guard let info, let buffer = Buffer(size: info.size) else { throw .notNegotiated }
    try draw(on: buffer, info)
    var picture = buffer
    let rate = info.frameRate
    picture.pts = .seconds(count, times: UInt32(rate.denominator), over: UInt32(rate.numerator))
    picture.duration = .seconds(1, times: UInt32(rate.denominator), over: UInt32(rate.numerator))
    count += 1
    return picture
  }

  private func draw(on buffer: borrowing Buffer, _ info: VideoInfo) throws(FlowError) {
    var picture = try VideoFrameMap(buffer, info: info, for: .writing)
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var pixels = picture.mutableRow(row, ofPlane: 0)
      for column in pixels.indices {
        pixels[column] = UInt8(clamping: column * 200 / info.width + Int(clamping: count) * 6)
      }
    }
  }
}
