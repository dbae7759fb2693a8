// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// `swifth264dec`: decodes H.264 to raw video, with a decompression session on libavcodec.
final class H264Decode: VideoDecoder, DecoderElement {
  static let log = Log("swifth264dec", "H.264 decoder")

  let settings = Locked(DecoderSettings())
  let statistics = Locked(DecoderStatistics())
  let cancellation = Cancellation()
  var core = DecoderCore<H264>(log: H264Decode.log)

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.264 decoder (Swift)", classification: "Codec/Decoder/Video",
      description: """
        Decodes H.264 with libavcodec; survives errors, parameter-set changes and lost codecs: \
        gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux ! swifth264dec ! videoconvert ! autovideosink
        """,
      author: "The gst-swift-h26x authors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h264, stream-format={avc, avc3, byte-stream}, alignment={au, nal}"),
      .source(
        "video/x-raw, format={\(RawFormatChoice.offered.map(\.name).joined(separator: ", "))}; "
          + DMABufMemory.template),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H264Decode) in element.settings }, defaults: DecoderSettings(), DecoderSettings.properties)
      + [
        .structure("stats", "Statistics since the decoder started") { (element: H264Decode) in
          element.statistics.snapshot.structure(of: H264.decoderName)
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
  override func stop() { core = DecoderCore<H264>(log: Self.log) }
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
