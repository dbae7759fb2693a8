// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Decodes the pictures of ``RunsEncoder``.
///
/// The base class takes care of segments, timestamps, seeks and quality of service.
final class RunsDecoder: VideoDecoder {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Run-length decoder", classification: "Codec/Decoder/Video", description: "Decodes grey pictures from runs",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-runs, width=[1,16384], height=[1,16384], framerate=(fraction)[0,max]"),
      .source("video/x-raw, format=GRAY8"),
    ]
  }

  /// The frame rate, and what else the caps have, is taken from the input.
  override func setFormat(_ state: borrowing VideoCodecState) -> Bool {
    setOutputState(format: .gray8, width: state.info.width, height: state.info.height, reference: state) != nil
  }

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard let code = try frame.withInput({ (code) throws(FlowError) in try code.copiedBytes() }),
      let picture = try picture(of: code)
    else {
      // One that is broken is no reason to end the stream.
      return try drop(frame)
    }
    frame.setOutput(picture)
    try finish(frame)
  }

  /// - Returns: `nil` for runs that do not fill the picture.
  private func picture(of runs: [UInt8]) throws(FlowError) -> Buffer? {
    // The pool that was negotiated with downstream, which also decides how long rows are in memory.
    guard let state = outputState, let buffer = allocateOutputBuffer() else { throw .notNegotiated }
    var picture = try VideoFrameMap(buffer, info: state.info, for: .writing)
    var next = runs.makeIterator()
    var (left, shade): (UInt8, UInt8) = (0, 0)
    for row in 0..<picture.rowCount(ofPlane: 0) {
      var pixels = picture.mutableRow(row, ofPlane: 0)
      for column in pixels.indices {
        if left == 0 {
          guard let count = next.next(), count > 0, let value = next.next() else { return nil }
          (left, shade) = (count, value)
        }
        pixels[column] = shade
        left -= 1
      }
    }
    return buffer
  }
}
