// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Codes grey pictures as runs: a count from 1 to 255, and the shade that so many pixels have, row after row.
///
/// The base class adds size and frame rate to the caps, and gives each coded picture the time of its picture.
final class RunsEncoder: VideoEncoder {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Run-length encoder", classification: "Codec/Encoder/Video", description: "Codes grey pictures as runs",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.sink("video/x-raw, format=GRAY8"), .source("video/x-runs")]
  }

  private var info: VideoInfo?

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    info = state.info
    return setOutputState(caps: Caps(mediaType: "video/x-runs"), reference: state) != nil
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard let code = try frame.withInput({ (picture) throws(FlowError) in try runs(of: picture) }) else {
      return try drop(frame)
    }
    frame.setOutput(code)
    // Each can be decoded alone.
    frame.isSyncPoint = true
    try finish(frame)
  }

  private func runs(of picture: borrowing Buffer) throws(FlowError) -> Buffer {
    guard let info else { throw .notNegotiated }
    let picture = try VideoFrameMap(picture, info: info, for: .reading)
    var runs: [UInt8] = []
    for row in 0..<picture.rowCount(ofPlane: 0) {
      // A row has padding behind it in memory, which is not in the span.
      let pixels = picture.row(row, ofPlane: 0)
      for column in pixels.indices {
        if let last = runs.last, last == pixels[column], runs[runs.count - 2] < 255 {
          runs[runs.count - 2] += 1
        } else {
          runs += [1, pixels[column]]
        }
      }
    }
    guard let code = Buffer(copying: runs.span) else { throw .error }
    return code
  }
}
