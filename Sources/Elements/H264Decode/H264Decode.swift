// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// `swifth264dec`: H.264 access units to raw video, through a decompression session on libavcodec.
///
/// Everything here runs on the streaming thread with the decoder's stream lock held, save property access.
final class H264Decode: VideoDecoder {
  static let log = Log("swifth264dec", "H.264 decoder")

  let settings = Locked(H264DecodeSettings())
  /// For the `stats` property, which application threads read.
  let statistics = Locked(H264DecodeStatistics())
  let allocator = PoolPictureAllocator()

  /// What the sink caps say.
  var input: H264DecodeInput?
  var tracker = H264.FormatTracker(nalLengthSize: nil)
  var collector = AccessUnitCollector()
  var session: DecompressionSession?
  /// The format that the session's last access unit had.
  var format: FormatDescription?
  var output: RawOutput?
  /// The sink caps as the base class keeps them.
  var inputState: VideoCodecState?
  /// What the sink caps say of geometry and colour.
  var inputInfo: VideoInfo?
  /// What is known of fields, where the sink caps do not say.
  var interlacing: Interlacing?
  /// Sink caps came since the last access unit, or downstream wants to agree anew.
  var capsChanged = false
  /// Downstream wants what another session would make without a conversion: at the next IDR picture.
  var wantsNewSession = false
  /// `codec_data` came whose parameter sets the session has not seen.
  var parameterSetsChanged = false
  /// Sits between the session's pictures and what downstream wants, when that differs.
  var conversion: PictureConversion?

  var isLive = false
  var health = StreamHealth()
  var reportedLatency: ReportedLatency?
  /// Sessions that ended before this one, summed up.
  var earlierSessions = SessionStatistics()

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.264 decoder (Swift)", classification: "Codec/Decoder/Video",
      description: "Decodes H.264 with libavcodec; survives errors, parameter-set changes and lost codecs",
      author: "gst-swift-h26x contributors")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h264, stream-format={avc, avc3, byte-stream}, alignment={au, nal}"),
      .source("video/x-raw, format={\(RawFormatChoice.offered.map(\.name).joined(separator: ", "))}"),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H264Decode) in element.settings }, defaults: H264DecodeSettings(), H264DecodeSettings.properties)
      + [
        .structure("stats", "What the decoder has done since it started") { (element: H264Decode) in
          element.statistics.snapshot.structure
        }
      ]
  }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    setPacketized(true)
    setNeedsFormat(true)
    setUsesDefaultPadAcceptCaps(true)
    maximumErrors = 20
  }

  // MARK: Life

  override func start() {
    statistics.withLock { $0 = H264DecodeStatistics() }
    earlierSessions = SessionStatistics()
    health = StreamHealth()
    reportedLatency = nil
  }

  override func stop() {
    closeSession()
    collector.discard()
    input = nil
    inputState = nil
    inputInfo = nil
    format = nil
    interlacing = nil
    output = nil
    conversion = nil
    allocator.useNone()
  }

  /// Ends the session; its frames are the base class's to release.
  func closeSession() {
    guard let session else { return }
    session.invalidate()
    earlierSessions.add(session.statistics)
    self.session = nil
  }

  // MARK: Negotiation

  override func setFormat(_ state: borrowing VideoCodecState) -> Bool { accept(state) }

  override func decideAllocation(_ query: borrowing Query) -> Bool {
    super.decideAllocation(query) && preparePool(in: query)
  }

  // MARK: Data

  override func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    guard let input else { throw .notNegotiated }
    guard input.isNALAligned else {
      try decode(frame)
      return
    }
    if let before = collector.add(frame, parameterSets: tracker.parameterSets, to: self) { try decode(before) }
    if let complete = collector.takeFinished() { try decode(complete) }
  }

  override func drain() throws(FlowError) {
    if let rest = collector.takeRest() { try decode(rest) }
    guard let session else { return }
    session.drain()
    try deliver()
  }

  override func finish() throws(FlowError) {
    try drain()
    try complainOfNothing()
  }

  override func flush() -> Bool {
    collector.discard()
    if let session {
      session.flush()
      releaseResults(of: session)
    }
    health.flush()
    publishStatistics()
    return true
  }
}
