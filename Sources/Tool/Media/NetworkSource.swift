// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Where a live stream comes from.
enum NetworkSource {
  case udp(address: String, port: Int32)
  case rtsp(String)
  case file(String)

  /// `nil` for a URL of another kind.
  init?(_ text: String) {
    if text.hasPrefix("udp://") {
      let rest = text.dropFirst("udp://".count)
      guard let colon = rest.lastIndex(of: ":"), let port = Int32(rest[rest.index(after: colon)...]),
        (1...65535).contains(port)
      else { return nil }
      let address = rest[..<colon].filter { $0 != "[" && $0 != "]" && $0 != "@" }
      self = .udp(address: address.isEmpty ? "0.0.0.0" : String(address), port: port)
    } else if text.hasPrefix("rtsp://") || text.hasPrefix("rtsps://") {
      self = .rtsp(text)
    } else if text.contains("://") {
      return nil
    } else {
      self = .file(text)
    }
  }

  /// Builds the head of a pipeline as far as the depayloader.
  ///
  /// - Parameter next: makes the parser, added to the pipeline, once the codec is known.
  func attach(
    to pipeline: Pipeline, codec: MediaStream.Codec, payload: Int32, latency: UInt32,
    _ next: @escaping @Sendable (MediaStream.Codec, Pipeline) throws(PipelineError) -> PipelineElement
  ) throws(PipelineError) {
    switch self {
    case .udp(let address, let port):
      let caps =
        "application/x-rtp, media=(string)video, clock-rate=(int)90000, encoding-name=(string)H\(codec.digits), "
        + "payload=(int)\(payload)"
      let source = try PipelineElement(
        "udpsrc",
        [
          "address": .string(address), "port": .int(port), "buffer-size": 2_097_152, "caps": .string(caps),
        ])
      let jitter = try PipelineElement("rtpjitterbuffer", ["latency": .uint(latency)])
      let depay = try PipelineElement("rtph\(codec.digits)depay", name: "depayloader")
      for element in [source, jitter, depay] { try pipeline.add(element) }
      try pipeline.link(source, jitter)
      try pipeline.link(jitter, depay)
      try pipeline.link(depay, next(codec, pipeline))
    case .rtsp(let location):
      let source = try PipelineElement("rtspsrc", ["location": .string(location), "latency": .uint(latency)])
      try pipeline.add(source)
      try Self.follow(source, pipeline, next)
    case .file(let path):
      let file = try PipelineElement("filesrc", ["location": .string(path)])
      let source = try PipelineElement("sdpdemux", ["latency": .uint(latency)])
      try pipeline.add(file)
      try pipeline.add(source)
      try pipeline.link(file, source)
      try Self.follow(source, pipeline, next)
    }
  }

  /// Takes the first stream of ours that a source offers.
  private static func follow(
    _ source: PipelineElement, _ pipeline: Pipeline,
    _ next: @escaping @Sendable (MediaStream.Codec, Pipeline) throws(PipelineError) -> PipelineElement
  ) throws(PipelineError) {
    try source.onPadAdded { [weak pipeline] pad in
      guard let pipeline, pad.isSource, (try? pipeline.element("depayloader")) == nil else { return }
      let codec: MediaStream.Codec
      switch pad.caps.first.value("encoding-name")?.string {
      case "H264": codec = .h264
      case "H265": codec = .h265
      default: return
      }
      do throws(PipelineError) {
        let depay = try PipelineElement("rtph\(codec.digits)depay", name: "depayloader")
        try pipeline.add(depay)
        try pipeline.link(depay, next(codec, pipeline))
        try pad.link(to: depay)
      } catch { Terminal.say("\(error)") }
    }
  }
}
