// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Leaves out every second buffer, whatever is in it.
///
/// A transform has whole buffers, of any format: this one takes all caps, and passes them on.
final class EverySecond: BaseTransform {
  private var isNext = false

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Every second", classification: "Filter", description: "Leaves out every second buffer",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }

  override func prepareToStream() { isNext = false }

  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    isNext.toggle()
    // No failure: the stream goes on.
    guard isNext else { throw .dropped }
    if let duration = buffer.duration { buffer.duration = duration + duration }
  }
}
