// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// `swifth265dec`: decodes H.265 to raw video, with a decompression session on libavcodec.
final class H265Decode: VideoDecoder, DecoderElement {
  static let log = Log("swifth265dec", "H.265 decoder")

  let settings = Locked(DecoderSettings())
  let statistics = Locked(DecoderStatistics())
  let cancellation = Cancellation()
  var core = DecoderCore<H265>(log: H265Decode.log)

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.265 decoder (Swift)", classification: "Codec/Decoder/Video",
      description: """
        Decodes H.265 with libavcodec; survives errors, parameter-set changes and lost codecs: \
        gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux ! swifth265dec ! videoconvert ! autovideosink
        """,
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    let formats = "format={\(RawFormatChoice.offered.map(\.name).joined(separator: ", "))}"
    return [
      .sink("video/x-h265, stream-format={hvc1, hev1, byte-stream}, alignment={au, nal}"),
      .source(
        "video/x-raw, \(formats); video/x-raw(format:Interlaced), \(formats), interlace-mode=alternate; "
          + DMABufMemory.template),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H265Decode) in element.settings }, defaults: DecoderSettings(),
      DecoderSettings.properties + DecoderSettings.pictureHashProperties)
      + [
        .structure("stats", "Statistics since the decoder started") { (element: H265Decode) in
          element.statistics.snapshot.structure(of: H265.decoderName)
        }
      ]
  }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    setPacketized(true)
    setNeedsFormat(true)
    setUsesDefaultPadAcceptCaps(true)
    sinkPad.setAcceptsTemplate()
    maximumErrors = 20
  }

  override func prepareToStream() { startAnew() }
  override func stop() { core = DecoderCore<H265>(log: Self.log) }
  override func setFormat(_ state: borrowing VideoCodecState) -> Bool { begin(state) }
  override func decideAllocation(_ query: borrowing Query) -> Bool {
    super.decideAllocation(query) && choosePool(in: query)
  }
  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) { try receive(frame) }
  override func drain() throws(FlowError) { try drainCore() }
  override func finish() throws(FlowError) { try endStream() }
  override func flush() -> Bool { flushCore() }
  override func interruptStream() { cancellation.cancel() }
  override func sinkEvent(_ event: consuming Event) -> Bool {
    cancelWaits(before: event)
    return super.sinkEvent(event)
  }
}
