// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import Synchronization
import SystemPackage

/// The source of a live stream.
enum NetworkSource {
  case udp(address: String, port: Int32)
  case rtsp(String)
  case file(FilePath)

  /// `nil` for a URL of another kind.
  init?(_ text: String) {
    if text.hasPrefix("udp://") {
      let rest = text.dropFirst("udp://".count)
      guard let colon = rest.lastIndex(of: ":"), let port = Int32(rest[rest.index(after: colon)...]),
        (1...65535).contains(port)
      else { return nil }
      let address = rest[..<colon].filter { $0 != "[" && $0 != "]" && $0 != "@" }
      self = .udp(address: address.isEmpty ? "0.0.0.0" : String(address), port: port)
    } else if Self.rtspSchemes.contains(where: { text.hasPrefix($0) }) {
      self = .rtsp(text)
    } else if text.contains("://") {
      return nil
    } else {
      self = .file(FilePath(argument: text))
    }
  }

  /// How the stream is received.
  struct Settings {
    /// For `udp`.
    var codec: FormatDescription.Codec
    /// RTP payload type, for `udp`.
    var payload: Int32
    /// How long to wait for late packets, in milliseconds.
    var latency: UInt32
    /// For `rtsp`.
    var transport: Transport
    /// For `file`.
    var description: SessionDescription?
    /// Whether timestamps follow RTP timestamps only (`RTPTimes`), for a recording.
    var keepsTimes: Bool
  }

  /// The streams that an RTSP server or an SDP file offers.
  final class Offer: Sendable {
    private struct State {
      var hasVideo = false
      var others: [String] = []
      var codec: FormatDescription.Codec?
      var refusal: PipelineError?
    }
    private let state = Mutex(State())
    let packets = RTPPackets()

    /// Whether a stream is the first H.264 or H.265 stream; any other is added to `others`.
    func takes(_ caps: borrowing Caps) -> Bool {
      let kind = caps.first.value("media")?.string ?? "stream"
      let name = caps.first.value("encoding-name")?.string ?? "unknown"
      return state.withLock { state in
        if !state.hasVideo, NetworkSource.codec(caps) != nil {
          state.hasVideo = true
          return true
        }
        state.others.append("\(kind) (\(name))")
        return false
      }
    }

    var hasVideo: Bool { state.withLock { $0.hasVideo } }
    /// The streams that are not received, for messages: `audio (MPEG4-GENERIC)`.
    var others: [String] { state.withLock { $0.others } }

    /// The codec of the stream that is received, once it is known.
    var codec: FormatDescription.Codec? { state.withLock { $0.codec } }

    /// Why the stream cannot be received.
    var refusal: PipelineError? { state.withLock { $0.refusal } }

    fileprivate func take(_ codec: FormatDescription.Codec) { state.withLock { $0.codec = codec } }
    fileprivate func refuse(_ error: PipelineError) { state.withLock { $0.refusal = error } }
  }

  /// The source with its password removed, for messages.
  static func shown(_ text: String) -> String {
    guard let slashes = text.firstRange(of: "://"), let at = text.lastIndex(of: "@"), at > slashes.upperBound,
      let colon = text[slashes.upperBound..<at].firstIndex(of: ":")
    else { return text }
    return text[..<colon] + String(text[at...])
  }

  /// The failure with its cause and remedy, if they are known. Some causes are recognized by the debug text, which is
  /// not translated.
  func explained(_ error: PipelineError, about source: String, offer: Offer) -> Failure {
    let failure = Failure(error, about: source)
    if case (.udp(let address, _), .stateChange) = (self, error) {
      return Failure("\(source): \(address) is neither an address of this machine nor a multicast group")
    }
    guard case .element(let posted) = error else { return failure }
    guard case .rtsp(let location) = self else { return failure }
    let name = Self.shown(location)
    if !offer.others.isEmpty, !offer.hasVideo {
      return Failure("\(name): no H.264 or H.265; it has \(Text.list(offer.others))")
    }
    if posted.error.code == .resource(.notAuthorized) {
      return Failure(
        name == location
          ? "\(name): needs a user and a password: rtsp://USER:PASSWORD@ADDRESS, with %40 for each @ in them"
          : "\(name): the server rejected the user or the password")
    }
    if posted.error.debug.contains("Failed to connect") {
      return Failure("\(name): cannot connect: no such host, or no server there")
    }
    // rtspsrc has already tried to reconnect.
    if posted.error.debug.contains("Could not connect to server") { return Failure("\(name): the server is gone") }
    if posted.error.code == .stream(.codecNotFound) || posted.error.debug.contains("No supported stream") {
      return Failure("\(name): the server does not support this transport; try another --transport")
    }
    return failure
  }

  /// Called once the codec is known; adds the parser to the pipeline and returns it.
  typealias Next = @Sendable (FormatDescription.Codec, Pipeline) throws(PipelineError) -> PipelineElement

  /// Builds the pipeline from the source to the depayloader, which gets the name `depayloader`.
  func attach(
    to pipeline: Pipeline, _ settings: Settings, _ offer: Offer, _ next: @escaping Next
  ) throws(PipelineError) {
    // Times that are corrected by arrival; others would be late from the start when the sender begins after this.
    let mode: FieldValue = "slave"
    switch self {
    case .udp(let address, let port):
      let codec = settings.codec
      let caps =
        "application/x-rtp, media=(string)video, clock-rate=(int)90000, encoding-name=(string)H\(codec.digits), "
        + "payload=(int)\(settings.payload)"
      let source = try PipelineElement(
        "udpsrc",
        [
          "address": .string(address), "port": .int(port), "buffer-size": 2_097_152, "caps": .string(caps),
        ])
      let jitter = try PipelineElement("rtpjitterbuffer", ["latency": .uint(settings.latency), "mode": mode])
      for element in [source, jitter] { try pipeline.add(element) }
      offer.packets.count(at: source.pad("src"))
      try pipeline.link(source, jitter)
      try pipeline.link(jitter, Self.depayloader(codec, in: pipeline, settings, offer, next))
    case .rtsp(let location):
      let source = try PipelineElement(
        "rtspsrc", ["location": .string(location), "latency": .uint(settings.latency)])
      if settings.keepsTimes { try source.set("buffer-mode", mode) }
      if let protocols = settings.transport.protocols { try source.set("protocols", .string(protocols)) }
      // The server does not send streams that are not selected.
      _ = try source.connect("select-stream") { arguments in
        guard let caps = arguments.caps(1) else { return .boolean(false) }
        return .boolean(offer.takes(caps))
      }
      try pipeline.add(source)
      try Self.follow(source, pipeline, settings, offer, isSelected: true, next)
    case .file:
      guard let description = try settings.description?.source() else { return }
      let source = try PipelineElement("sdpdemux", ["latency": .uint(settings.latency)])
      try pipeline.add(chain: description, source)
      try Self.follow(source, pipeline, settings, offer, isSelected: false, next)
    }
  }

  private static func codec(_ caps: borrowing Caps) -> FormatDescription.Codec? {
    switch caps.first.value("encoding-name")?.string {
    case "H264": .h264
    case "H265": .h265
    default: nil
    }
  }

  /// Adds the depayloader and the elements behind it, and returns the depayloader.
  private static func depayloader(
    _ codec: FormatDescription.Codec, in pipeline: Pipeline, _ settings: Settings, _ offer: Offer, _ next: Next
  ) throws(PipelineError) -> PipelineElement {
    offer.take(codec)
    let depay = try PipelineElement("rtph\(codec.digits)depay", name: "depayloader")
    offer.packets.check(at: depay.pad("sink"), codec, keepsTimes: settings.keepsTimes)
    try pipeline.add(depay)
    let packaging = try packaging(codec, isRecorded: settings.keepsTimes)
    try pipeline.add(packaging)
    try pipeline.link(depay, packaging)
    try pipeline.link(packaging, next(codec, pipeline))
    return depay
  }

  /// The element that sets the packaging of the depayloader's output.
  ///
  /// A byte stream is read correctly even if the sender puts parameter sets and a picture into one NAL unit, with
  /// start codes between them. A recording gets NAL units, and the parser finds the ends of access units: some
  /// senders mark each packet as the last of its access unit. For display, access units end as the sender marks them,
  /// which is a picture earlier.
  private static func packaging(
    _ codec: FormatDescription.Codec, isRecorded: Bool
  ) throws(PipelineError) -> PipelineElement {
    let alignment = isRecorded ? "nal" : "au"
    let caps = "\(codec.mediaType), stream-format=(string)byte-stream, alignment=(string)\(alignment)"
    let filter = try PipelineElement("capsfilter", ["caps": .string(caps)])
    if isRecorded {
      filter.pad("src")?.changeBuffers { buffer in
        buffer.flags.remove(.marker)
        moveDelimiterFirst(in: &buffer, codec.syntax)
        return .pass
      }
    }
    return filter
  }

  /// The depayloader puts the session description's parameter sets in front of the first NAL unit, although it is an
  /// access unit delimiter.
  private static func moveDelimiterFirst(in buffer: inout Buffer, _ syntax: any ElementCodecSyntax.Type) {
    guard let bytes = try? buffer.copiedBytes() else { return }
    var nalUnits = NALPackaging.annexB.nalUnits(of: bytes.span)
    let delimiter = nalUnits.firstIndex { syntax.role(of: bytes.span.extracting($0)) == .accessUnitDelimiter }
    guard let delimiter, delimiter > 0 else { return }
    nalUnits.insert(nalUnits.remove(at: delimiter), at: 0)
    let ordered = nalUnits.flatMap { [0, 0, 0, 1] + bytes[$0] }
    guard var replacement = Buffer(copying: ordered.span) else { return }
    replacement.copyMetadata(from: buffer)
    buffer = replacement
  }

  /// Links the first H.264 or H.265 stream that a source adds a pad for.
  ///
  /// - Parameter isSelected: whether `select-stream` has recorded the streams.
  private static func follow(
    _ source: PipelineElement, _ pipeline: Pipeline, _ settings: Settings, _ offer: Offer, isSelected: Bool,
    _ next: @escaping Next
  ) throws(PipelineError) {
    try source.onPadAdded { [weak pipeline] pad in
      guard let pipeline, pad.isSource, isSelected || offer.takes(pad.caps), let codec = Self.codec(pad.caps) else {
        return
      }
      do throws(PipelineError) {
        try pad.link(to: depayloader(codec, in: pipeline, settings, offer, next))
      } catch {
        offer.refuse(error)
        Task { await pipeline.stop() }
      }
    }
  }

  /// The URLs that `rtspsrc` takes.
  static let rtspSchemes = ["rtsp://", "rtsps://", "rtspt://", "rtspu://"]

  /// How packets come from an RTSP server.
  enum Transport: String, CaseIterable {
    case auto, udp, tcp

    /// The value for `protocols` of `rtspsrc`; `nil` for its default order: UDP, multicast, TCP.
    var protocols: String? {
      switch self {
      case .auto: nil
      case .udp: "udp+udp-mcast"
      case .tcp: "tcp"
      }
    }
  }
}
