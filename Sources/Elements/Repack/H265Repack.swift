// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// `swifth265repack`: converts H.265 from any packaging to any other, without a change to its slices.
///
/// Input and output are hvc1 (length prefixes, parameter sets in `codec_data`), hev1 (the same with the parameter
/// sets in the stream) and byte-stream (start codes). If `codec_data` must be made, the output's caps wait until the
/// parameter sets are known.
final class H265Repack: BaseTransform, RepackElement {
  static let log = Log("swifth265repack", "H.265 repackager")

  let settings = Locked(RepackSettings())
  let statistics = Locked(RepackStatistics())
  let latency = Locked(RepackLatency())
  var core = RepackCore<H265>(RepackSettings())

  // No "Parser" in the classification: autopluggers put every parser they find into their chains.
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.265 repackager (Swift)", classification: "Codec/Converter/Video",
      description: """
        Converts H.265 among byte-stream, hvc1 and hev1: gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux \
        ! swifth265repack ! video/x-h265,stream-format=byte-stream ! filesink location=copy.h265
        """,
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h265, stream-format={hvc1, hev1, byte-stream}, alignment={au, nal}"),
      .source(
        """
        video/x-h265, stream-format={hvc1, hev1}, alignment=au; \
        video/x-h265, stream-format=byte-stream, alignment={au, nal}
        """),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H265Repack) in element.settings }, defaults: RepackSettings(),
      RepackSettings.properties + H265.ownSettings)
      + [
        .structure("stats", "Statistics since the repackager started") { (element: H265Repack) in
          element.statistics.snapshot.structure("application/x-swifth265repack-stats")
        }
      ]
  }

  override class var mode: Mode { .generating }

  override func prepareToStream() { beginAnew() }
  override func stop() { core = RepackCore<H265>(settings.snapshot) }

  override func transformCaps(_ caps: borrowing Caps, on side: Pad.Direction, filter: borrowing Caps?) -> Caps {
    possibleCaps(caps, on: side, filter: filter)
  }
  override func fixateCaps(_ caps: borrowing Caps, on side: Pad.Direction, other: consuming Caps) -> Caps {
    side == .sink ? chosenCaps(caps, from: other) : other.fixated()
  }
  override func acceptCaps(_ caps: borrowing Caps, on side: Pad.Direction) -> Bool {
    // Bad caps are reported on the bus when they come, rather than refused in silence.
    side == .sink ? caps.first.name == H265.mediaType : super.acceptCaps(caps, on: side)
  }
  override func setCaps(input: borrowing Caps, output: borrowing Caps) -> Bool { adopt(output: output) }
  override func query(_ query: borrowing Query, on side: Pad.Direction) -> Bool {
    query.kind == .latency && side == .source ? answerLatency(query) : super.query(query, on: side)
  }

  override func sinkEvent(_ event: consuming Event) -> Bool { handle(event) }
  func forward(_ event: consuming Event) -> Bool { super.sinkEvent(event) }

  override func submitInput(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    try take(input, isDiscontinuous: isDiscontinuous)
  }
  func submit(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    try super.submitInput(input, isDiscontinuous: isDiscontinuous)
  }
  override func generateOutput(_ input: consuming Buffer) throws(FlowError) -> Buffer? { try output(of: input) }
  override func nextOutput() throws(FlowError) -> Buffer? { try advance() }
}
