// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Adds sounds up, sample by sample.
///
/// The base class queues what comes in, and calls the element when every input has a buffer or is at its end.
final class Mixer: Aggregator {
  private var position: ClockTime = .zero

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Mixer", classification: "Generic/Audio", description: "Adds sounds up",
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [.sink(sampleCaps, named: "sink_%u", .request), .source(sampleCaps)]
  }

  override func prepareToStream() { position = .zero }

  /// The format of the first input is that of the output.
  override func updateSourceCaps(_ caps: borrowing Caps) -> CapsChoice {
    guard let input = inputs.first, let format = input.pad.currentCaps else { return .needsMoreData }
    return .caps(format.intersection(caps))
  }

  override func aggregate(isLate: Bool) throws(FlowError) {
    var sum: [Int] = []
    var duration: ClockTime?
    for input in inputs {
      guard let buffer = input.pop() else { continue }
      let samples = try samples(in: buffer)
      if samples.count > sum.count {
        sum += Array(repeating: 0, count: samples.count - sum.count)
        duration = buffer.duration
      }
      for (index, sample) in samples.enumerated() { sum[index] += sample }
    }
    guard !sum.isEmpty else { throw .endOfStream }
    var output = try buffer(of: sum)
    output.pts = position
    output.duration = duration
    if let duration { position = position + duration }
    try finish(output)
  }
}
