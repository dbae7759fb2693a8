// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x
import SystemPackage

/// `h26x receive`: shows or records a stream from the network.
struct ReceiveCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "receive", abstract: "Receives RTP over UDP, RTSP, or the stream that an SDP file describes.",
    discussion: """
      SOURCE is udp://ADDRESS:PORT (a multicast group is joined), rtsp://ADDRESS, or an SDP file. Pictures are \
      shown. With -o FILE, the stream is written without decoding, in the formats of repack and without audio. An \
      interrupt, or the end of the stream, ends reception and completes the file. After an error, the part received \
      so far is kept.

      A sender to try it with:
        gst-launch-1.0 videotestsrc is-live=true ! x264enc tune=zerolatency \\
          ! rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port=5004

      Examples:
        h26x receive udp://127.0.0.1:5004 -o recording.mkv --duration 10
        h26x receive rtsp://camera.local/stream
        h26x receive rtsp://user:password@camera.local/stream --transport tcp -o recording.mp4
        h26x receive udp://127.0.0.1:5004 -o - --format ts | ffplay -
      """)

  @Argument(
    help: "udp://ADDRESS:PORT, rtsp://ADDRESS or an SDP file; - is standard input.", completion: .file())
  var source = "udp://0.0.0.0:5004"
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the stream without decoding: .mkv .ts .flv .mp4 .mov .h264; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath?
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, regardless of OUT's suffix.") var format: TargetContainer?
  @Option(help: ArgumentHelp("End after this time.", valueName: "time")) var duration: TimeArgument?
  @Option(help: ArgumentHelp("How long to wait for late packets, in milliseconds.", valueName: "ms"))
  var latency: UInt32 = 100
  @Option(help: ArgumentHelp("RTP payload type, for udp://.", valueName: "n")) var payload: Int32 = 96
  @Option(help: "h264 or h265, for udp://.") var codec: ReceivedCodec = .h264
  @Option(help: "auto, udp or tcp, for rtsp://. auto tries UDP first.") var transport = NetworkSource.Transport.auto
  @Option(help: ArgumentHelp("The GStreamer element that shows pictures.", valueName: "element")) var sink: String?
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var progress: ProgressOptions

  enum ReceivedCodec: String, CaseIterable, ExpressibleByArgument {
    case h264, h265
    var codec: FormatDescription.Codec { self == .h264 ? .h264 : .h265 }
  }

  mutating func validate() throws {
    guard (0...127).contains(payload) else { throw ValidationError("--payload needs 0 to 127, not \(payload)") }
    guard latency <= 60_000 else { throw ValidationError("--latency needs at most 60000, not \(latency)") }
    guard output != nil || format == nil else { throw ValidationError("--format needs -o OUT") }
    if format == nil { format = output.flatMap { TargetContainer(fileName: $0.string) } }
    if let output, format == nil {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .mkv, .ts, .flv, .mp4, .mov or .h264, or --format")
    }
    if output == "-", let format, format.isMovie {
      throw ValidationError(
        "-o - cannot be \(format.rawValue), which is written out of order; use mkv, ts, flv or annexb")
    }
    if NetworkSource(source) == nil {
      throw ValidationError("\(NetworkSource.shown(source)): expected udp://ADDRESS:PORT, rtsp://ADDRESS or a file")
    }
  }

  func run() async throws { try await Interruption.completing(during: receive) }

  private func receive() async throws {
    try PluginFile.load()
    guard let network = NetworkSource(source) else { throw Failure("\(source): neither an address nor a file", .usage) }
    let name = source == "-" ? "standard input" : NetworkSource.shown(source)
    var settings = NetworkSource.Settings(
      codec: codec.codec, payload: payload, latency: latency, transport: transport, keepsTimes: output != nil)
    if case .file(let path) = network { settings.description = try SessionDescription(path) }
    let sinks = output == nil ? try PlaySinks(video: sink, audio: nil) : nil
    let target = try output.map { name throws(Failure) in try OutputFile(name, force: force) }
    let (pipeline, offer) = (Pipeline(), NetworkSource.Offer())
    let (route, result): (RepackRoute?, Reception)
    do throws(Failure) {
      route = try makeRoute(target)
      do throws(PipelineError) {
        try network.attach(to: pipeline, settings, offer) { [route] codec, pipeline throws(PipelineError) in
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
      result = try await receive(Recording(pipeline, route), name)
    } catch {
      await pipeline.stop()
      target?.discard()
      throw error
    }
    await pipeline.stop()
    var failure = offer.refusal.map { Failure($0, about: name) }
    if let error = result.error, failure == nil {
      failure = network.explained(error, about: error.isOfOutput ? target?.name ?? name : name, offer: offer)
      failure = failure.map { route?.explained($0) ?? $0 }
    }
    let counts = result.counts
    guard counts.written > 0 else {
      target?.discard()
      let isUDP = if case .udp = network { true } else { false }
      let reason = offer.packets.reason(offer.codec ?? codec.codec, payload: isUDP ? payload : nil)
      let nothing = Failure("\(name): no picture was received\(reason)")
      throw result.error?.isOfParser == true ? nothing : failure ?? nothing
    }
    var (remarks, left): ([String], [String]) = ([], offer.others)
    if let target, let made = route?.dolbyVision {
      do throws(Failure) {
        if try target.complete(offer.codec ?? codec.codec, with: made) {
          remarks.append(DolbyVisionRecord.copied.remark(made))
        } else {
          left.append(DolbyVisionRecord.loss)
        }
      } catch { failure = failure ?? error }
    }
    try target?.commit()
    var summary = "\(target?.name ?? name): "
    // An MP4 without its index, for instance, cannot be played.
    if failure != nil, route != nil, result.error?.isOfOutput == true || !counts.isComplete {
      summary += "incomplete: "
    }
    summary += "\(offer.codec.map { "\($0.name), " } ?? "")\(counts.remark)"
    if offer.packets.broken > 0 { summary += ", \(offer.packets.broken) broken" }
    if counts.untimed > 0 { summary += ", \(counts.untimed) more without a time of their own" }
    summary += counts.damage.remark
    if !left.isEmpty { summary += "; left behind: \(left.joined(separator: ", "))" }
    for line in [summary] + remarks.map({ "\(target?.name ?? name): \($0)" }) { Terminal.say(line) }
    if let failure { throw failure }
  }

  private func makeRoute(_ target: OutputFile?) throws(Failure) -> RepackRoute? {
    guard let target, let format else { return nil }
    guard target.isSeekable || !format.isMovie else {
      throw Failure("\(target.name): \(format.rawValue) is written out of order and needs a file")
    }
    return try RepackRoute(format, into: target)
  }

  /// How a reception ended.
  private struct Reception {
    var error: PipelineError?
    var counts: Recording.Counts
  }

  /// Receives until end of stream, the end of --duration, a signal or an error.
  private func receive(_ recording: Recording, _ name: String) async throws(Failure) -> Reception {
    let limit = duration
    let timer = Task {
      guard let limit else { return }
      try await Task.sleep(for: .nanoseconds(Int64(clamping: limit.time.nanoseconds)))
      await recording.end()
    }
    defer { timer.cancel() }
    return try await Interruption.handled(
      by: { Task { await recording.end() } },
      during: { () async throws(Failure) -> Reception in
        do throws(PipelineError) {
          var messages = recording.pipeline.messages.makeAsyncIterator()
          try await recording.pipeline.play()
          if Terminal.isInteractive { Terminal.say("listening to \(name)") }
          try await Progress.during(ProgressPlace(of: recording.pipeline), hasLine: false) {
            () async throws(PipelineError) in
            while try await messages.next() != nil {}
          }
          return Reception(counts: recording.counts)
        } catch {
          // The part received so far is kept.
          if recording.counts.written > 0 {
            await recording.complete(for: .seconds(10), detourAfter: .milliseconds(200))
          }
          return Reception(error: error, counts: recording.counts)
        }
      })
  }
}

extension NetworkSource.Transport: ExpressibleByArgument {}

extension PipelineError {
  /// Whether the element that writes failed.
  fileprivate var isOfOutput: Bool {
    guard case .element(let failure) = self else { return false }
    return ["filesink", "fdsink"].contains(failure.kind)
  }

  /// Whether the parser found no picture.
  fileprivate var isOfParser: Bool {
    guard case .element(let failure) = self else { return false }
    return failure.error.code == .stream(.wrongType) && failure.kind.hasSuffix("parse")
  }
}
