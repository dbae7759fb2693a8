// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer

/// `h26x receive`: from the network.
struct ReceiveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: "Receives RTP over UDP, RTSP, or what an SDP file describes.",
    discussion: """
      SOURCE is udp://ADDRESS:PORT (a multicast group is joined), rtsp://ADDRESS, or an SDP file. Pictures are shown, or \
      written as they come: -o FILE takes what repack takes. An interrupt ends it, and the file so that it plays.

      A sender to try it with:
        gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency \\
          ! rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port=5004

      Examples:
        h26x receive udp://127.0.0.1:5004 -o recording.mkv --duration 10
        h26x receive rtsp://camera.local/stream
      """)

  @Argument(help: "udp://ADDRESS:PORT, rtsp://ADDRESS or an SDP file.") var source = "udp://0.0.0.0:5004"
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write what comes, undecoded: .mkv .ts .flv .mp4 .mov .h264.", valueName: "out"))
  var output: String?
  @Option(help: ArgumentHelp("End after this time.", valueName: "time")) var duration: TimeArgument?
  @Option(help: ArgumentHelp("How long to wait for late packets, in milliseconds.", valueName: "ms"))
  var latency: UInt32 = 100
  @Option(help: ArgumentHelp("RTP payload type of udp://.", valueName: "n")) var payload: Int32 = 96
  @Option(help: "h264 or h265, for udp://.") var codec: ReceivedCodec = .h264
  @Option(help: ArgumentHelp("The GStreamer element that shows pictures.", valueName: "element")) var sink: String?
  @Flag(help: "Replace an existing file.") var force = false

  enum ReceivedCodec: String, CaseIterable, ExpressibleByArgument {
    case h264, h265
    var codec: MediaStream.Codec { self == .h264 ? .h264 : .h265 }
  }

  mutating func validate() throws {
    guard (0...127).contains(payload) else { throw ValidationError("--payload needs 0 to 127, not \(payload)") }
    guard latency <= 60_000 else { throw ValidationError("--latency needs 60000 at most, not \(latency)") }
    if let output, TargetContainer(fileName: output) == nil {
      throw ValidationError("-o \(output) does not say what to write: expected .mkv, .ts, .flv, .mp4, .mov or .h264")
    }
    if NetworkSource(source) == nil {
      throw ValidationError("\(source): expected udp://ADDRESS:PORT, rtsp://ADDRESS or a file")
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
    let pipeline = Pipeline()
    do throws(Failure) {
      do throws(PipelineError) {
        try network.attach(to: pipeline, codec: codec.codec, payload: payload, latency: latency) {
          codec, pipeline throws(PipelineError) in
          let parse = try PipelineElement("swifth\(codec.digits)parse", name: "parser")
          try pipeline.add(parse)
          if let sinks {
            try pipeline.link(parse, sinks.attachVideo(codec, pipeline))
          } else if let route {
            try pipeline.link(parse, route.attach(codec, pipeline))
          }
          return parse
        }
      } catch { throw Failure(error, about: source) }
      try await receive(pipeline)
    } catch {
      await pipeline.stop()
      target?.discard()
      throw error
    }
    let received = (try? pipeline.element("parser").fields("stats"))??["access-units"]?.integer ?? 0
    let damage = Damage(try? pipeline.element("decoder").fields("stats"))
    let losses = Losses(try? pipeline.element("rtpjitterbuffer0").fields("stats"))
    await pipeline.stop()
    guard received > 0 else {
      target?.discard()
      throw Failure("\(source): no picture was received")
    }
    try target?.commit()
    Terminal.say("\(output ?? source): \(Text.count(received, "access unit")) received\(losses.remark)\(damage.remark)")
  }

  /// Until the sender, the time or the user ends it.
  private func receive(_ pipeline: Pipeline) async throws(Failure) {
    let finish: @Sendable () -> Void = {
      Task {
        // The end of the stream is put behind the sources, which go on inside of rtspsrc and sdpdemux.
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
    try await Interruption.handled(
      by: finish,
      during: { () async throws(Failure) in
        do throws(PipelineError) {
          var messages = pipeline.messages.makeAsyncIterator()
          try await pipeline.play()
          if Terminal.isInteractive { Terminal.say("listening to \(source)") }
          while try await messages.next() != nil {}
        } catch { throw Failure(error, about: source) }
      })
  }
}
