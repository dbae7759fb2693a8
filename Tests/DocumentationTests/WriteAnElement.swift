// SPDX-License-Identifier: MPL-2.0
import GStreamer

// The code of the article that no other test has, checked by ArticleTests.

/// Makes grey pictures RGB pictures, in one colour.
final class Tint: VideoFilter {
  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-raw, format=RGB")]
  }

  /// The input's pictures are not the output's: ``transform(_:into:)`` is called, with both.
  override class var worksInPlace: Bool { false }

  /// What the other side can be when this side is `caps`: the same size and rate in the other format.
  override func transformCaps(_ caps: borrowing Caps, on side: Pad.Direction, filter: borrowing Caps?) -> Caps {
    var other = caps.copy()
    other.set("format", .string(side == .sink ? "RGB" : "GRAY8"))
    other.remove("colorimetry")
    switch filter {
    case .some(let filter): return filter.intersection(other)
    case .none: return other
    }
  }

  override func transform(_ input: borrowing VideoFrameMap, into output: inout VideoFrameMap) throws(FlowError) {
    for row in 0..<input.rowCount(ofPlane: 0) {
      let grey = input.row(row, ofPlane: 0)
      var colours = output.mutableRow(row, ofPlane: 0)
      for column in grey.indices {
        colours[3 * column] = grey[column]
        colours[3 * column + 1] = grey[column] / 2
        colours[3 * column + 2] = 0
      }
    }
  }
}
