// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Exchanges left and right.
///
/// The base class negotiates a format, and gives the element one picture at a time, which is its own to change.
final class Mirror: VideoFilter {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Mirror", classification: "Filter/Effect/Video", description: "Exchanges left and right",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-raw, format=GRAY8")]
  }

  override func changePicture(_ picture: inout VideoFrameMap) throws(FlowError) {
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var pixels = picture.mutableRow(row, ofPlane: 0)
      for column in 0..<pixels.count / 2 { pixels.swapAt(column, pixels.count - 1 - column) }
    }
  }
}
