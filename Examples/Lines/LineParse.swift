// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Cuts text into lines, each a buffer of its own, at a tenth of a second each.
///
/// The base class collects data, calls ``handleFrame(_:)`` with what there is, and again with more where that was not
/// enough. It also answers queries and seeks, because it knows how long a frame is.
final class LineParse: BaseParse {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Line parser", classification: "Codec/Parser", description: "Cuts text into lines",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.sink("text/plain"), .source("text/x-raw, format=utf8")]
  }

  override func start() throws(ElementError) {
    setMinimumFrameSize(1)
    setFrameRate(Fraction(10, 1))
  }

  /// Caps have to be set before the first line is pushed. A file has none; then the base class sets these.
  override func setSinkCaps(_ caps: borrowing Caps) -> Bool { announce() }

  private func announce() -> Bool {
    guard let caps = Caps(parsing: "text/x-raw, format=utf8") else { return false }
    return sourcePad.setCaps(caps)
  }

  private var isAnnounced = false

  override func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    if !isAnnounced { isAnnounced = announce() }
    let map = try frame.map()
    let bytes = map.bytes
    for index in bytes.indices where bytes[index] == 0x0A { return .frame(size: index + 1) }
    // The last line may lack its line feed.
    return isDraining ? .frame(size: bytes.count) : .needsMoreData
  }
}
