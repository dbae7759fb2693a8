// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import H26x

/// `h26x receive`: shows or records a stream from the network.
struct ReceiveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: "Receives RTP over UDP, RTSP, or what an SDP file describes.",
    discussion: """
      SOURCE is udp://ADDRESS:PORT (a multicast group is joined), rtsp://ADDRESS, or an SDP file. Pictures are shown, or \
      with -o FILE written without decoding, in the formats of repack and without audio. An interrupt, or the end of the \
      stream, ends reception and completes the file.

      A sender to try it with:
        gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency \\
          ! rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port=5004

      Examples:
        h26x receive udp://127.0.0.1:5004 -o recording.mkv --duration 10
        h26x receive rtsp://camera.local/stream
        h26x receive rtsp://user:password@camera.local/stream --transport tcp -o recording.mp4
      """)

  @Argument(help: "udp://ADDRESS:PORT, rtsp://ADDRESS or an SDP file.") var source = "udp://0.0.0.0:5004"
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write the stream without decoding: .mkv .ts .flv .mp4 .mov .h264.", valueName: "out"))
  var output: String?
  @Option(help: ArgumentHelp("End after this time.", valueName: "time")) var duration: TimeArgument?
  @Option(help: ArgumentHelp("How long to wait for late packets, in milliseconds.", valueName: "ms"))
  var latency: UInt32 = 100
  @Option(help: ArgumentHelp("RTP payload type, for udp://.", valueName: "n")) var payload: Int32 = 96
  @Option(help: "h264 or h265, for udp://.") var codec: ReceivedCodec = .h264
  @Option(help: "auto, udp or tcp, for rtsp://. auto tries UDP first.") var transport = NetworkSource.Transport.auto
  @Option(help: ArgumentHelp("The GStreamer element that shows pictures.", valueName: "element")) var sink: String?
  @Flag(help: "Replace an existing file.") var force = false

  enum ReceivedCodec: String, CaseIterable, ExpressibleByArgument {
    case h264, h265
    var codec: FormatDescription.Codec { self == .h264 ? .h264 : .h265 }
  }

  mutating func validate() throws {
    guard (0...127).contains(payload) else { throw ValidationError("--payload needs 0 to 127, not \(payload)") }
    guard latency <= 60_000 else { throw ValidationError("--latency needs 60000 at most, not \(latency)") }
    if let output, TargetContainer(fileName: output) == nil {
      throw ValidationError("-o \(output) does not say what to write: expected .mkv, .ts, .flv, .mp4, .mov or .h264")
    }
    if NetworkSource(source) == nil {
      throw ValidationError("\(NetworkSource.shown(source)): expected udp://ADDRESS:PORT, rtsp://ADDRESS or a file")
    }
  }

  func run() async throws {
    try PluginFile.load()
    guard let network = NetworkSource(source) else { return }
    if case .file(let path) = network { _ = try InputFile(path, looksIntoPipes: false) }
    let sinks = output == nil ? try PlaySinks(video: sink, audio: nil) : nil
    let target = try output.map { name throws(Failure) in try OutputFile(name, force: force) }
    let container = output.flatMap(TargetContainer.init(fileName:))
    let route = try container.flatMap { container throws(Failure) in
      try target.map { target throws(Failure) in try RepackRoute(container, into: target, drop: nil, audio: false) }
    }
    let (pipeline, offer, name) = (Pipeline(), NetworkSource.Offer(), NetworkSource.shown(source))
    var failure: Failure?
    do throws(Failure) {
      do throws(PipelineError) {
        let settings = NetworkSource.Settings(
          codec: codec.codec, payload: payload, latency: latency, transport: transport, keepsTimes: route != nil)
        try network.attach(to: pipeline, settings, offer) { codec, pipeline throws(PipelineError) in
          let parse = try PipelineElement("swifth\(codec.digits)parse", name: "parser")
          try pipeline.add(parse)
          if let sinks {
            try pipeline.link(parse, sinks.attachVideo(codec, pipeline))
          } else if let route {
            try pipeline.link(parse, route.attach(codec, pipeline))
          }
          return parse
        }
      } catch { throw Failure(error, about: name) }
      if let error = try await receive(pipeline, name) {
        let explained = network.explained(error, about: name, offer: offer)
        guard let route, error.isOfSource else { throw explained }
        // What was received before the source failed is kept.
        await finish(pipeline, route)
        failure = explained
      }
    } catch {
      await pipeline.stop()
      target?.discard()
      throw error
    }
    let received = (try? pipeline.element("parser").fields("stats"))??["access-units"]?.integer ?? 0
    let damage = Damage(try? pipeline.element("decoder").fields("stats"))
    let losses = Losses(try? pipeline.element("rtpjitterbuffer0").fields("stats"))
    await pipeline.stop()
    let written = received - (route?.untimed ?? 0)
    guard written > 0 else {
      target?.discard()
      throw failure ?? Failure("\(name): no picture was received")
    }
    try target?.commit()
    let untimed = route.map { $0.untimed > 0 ? ", \($0.untimed) more without a time of their own" : "" } ?? ""
    let left = offer.others.isEmpty ? "" : "; left behind: \(offer.others.joined(separator: ", "))"
    Terminal.say(
      "\(output ?? name): \(Text.count(written, "access unit")) received\(losses.remark)\(untimed)\(damage.remark)\(left)"
    )
    if let failure { throw failure }
  }

  /// Sends EOS and waits until the file is complete, after the source has failed.
  private func finish(_ pipeline: Pipeline, _ route: RepackRoute) async {
    guard let depayloader = try? pipeline.element("depayloader") else { return }
    await pipeline.endStream(at: depayloader)
    for _ in 0..<100 where !route.hasEnded { try? await Task.sleep(for: .milliseconds(50)) }
  }

  /// Receives until end of stream, the end of --duration, a signal, or an error, which is returned.
  private func receive(_ pipeline: Pipeline, _ name: String) async throws(Failure) -> PipelineError? {
    let finish: @Sendable () -> Void = {
      Task {
        // End of stream is sent behind the depayloader, because the sources inside rtspsrc and sdpdemux keep running.
        guard let depayloader = try? pipeline.element("depayloader") else { return await pipeline.stop() }
        await pipeline.endStream(at: depayloader)
      }
    }
    let limit = duration
    let timer = Task {
      guard let limit else { return }
      try await Task.sleep(for: .nanoseconds(Int64(clamping: limit.time.nanoseconds)))
      finish()
    }
    defer { timer.cancel() }
    return try await Interruption.handled(
      by: finish,
      during: { () async throws(Failure) -> PipelineError? in
        do throws(PipelineError) {
          var messages = pipeline.messages.makeAsyncIterator()
          try await pipeline.play()
          if Terminal.isInteractive { Terminal.say("listening to \(name)") }
          while try await messages.next() != nil {}
          return nil
        } catch { return error }
      })
  }
}

extension NetworkSource.Transport: ExpressibleByArgument {}

extension PipelineError {
  /// Whether a source element failed, so that what was received before is intact.
  fileprivate var isOfSource: Bool {
    guard case .element(let failure) = self else { return false }
    return ["rtspsrc", "udpsrc", "sdpdemux"].contains(failure.kind)
  }
}
