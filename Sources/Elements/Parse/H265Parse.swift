// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// `swifth265parse`: cuts H.265 into access units or NAL units, describes the stream in caps, and changes the packaging
/// to what downstream accepts.
///
/// Timestamps, flags and metas of the input are kept. If the packaging stays, output buffers share the input's
/// memory.
final class H265Parse: BaseParse, ParserElement {
  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.265 parser (Swift)", classification: "Codec/Parser/Converter/Video",
      description: """
        Parses and repackages H.265 streams: gst-launch-1.0 -v filesrc location=clip.h265 ! swifth265parse ! \
        fakesink
        """,
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h265"),
      .source(
        """
        video/x-h265, parsed=(boolean)true, stream-format=(string){ hvc1, hev1, byte-stream }, \
        alignment=(string){ au, nal }
        """),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H265Parse) in element.settings }, defaults: ParserSettings(), ParserSettings.properties)
      + [
        .structure("stats", "Statistics since the parser started") { (element: H265Parse) in
          element.statistics.snapshot.structure("h265-parse-stats")
        }
      ]
  }

  static let log = Log("swifth265parse", "H.265 parser (Swift)")

  let settings = Locked(ParserSettings())
  let statistics = Locked(ParserStatistics())
  let pace = Locked(StreamPace())
  let target = Locked<ClockTime?>(nil)
  let keyUnitRequest = Locked<KeyUnitRequest?>(nil)
  var core = ParserCore<H265>()

  @unsafe required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    sinkPad.setAcceptsIntersection()
    sinkPad.skipEmptyBuffers()
  }

  override func prepareToStream() { prepareCore() }

  override func start() { reportEmptyInput() }

  override func setSinkCaps(_ caps: borrowing Caps) -> Bool { acceptSinkCaps(caps) }

  override func sinkCaps(filter: borrowing Caps?) -> Caps { acceptableSinkCaps(filter: filter) }

  override func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep { try parse(frame) }

  override func prePushFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) { try send(frame) }

  override func sinkQuery(_ query: borrowing Query) -> Bool { answer(query) || super.sinkQuery(query) }

  override func convert(_ value: Int64, from source: Query.Format, to target: Query.Format) -> Int64? {
    estimate(value, from: source, to: target) ?? super.convert(value, from: source, to: target)
  }

  override func sinkEvent(_ event: consuming Event) -> Bool {
    handleSinkEvent(event) { (event: consuming Event) in super.sinkEvent(event) }
  }

  override func sourceEvent(_ event: consuming Event) -> Bool {
    noticeSourceEvent(event)
    return super.sourceEvent(event)
  }
}
