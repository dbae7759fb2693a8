// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import Glibc
import Synchronization
import SystemPackage

/// `h26x repack`: changes container and packaging without encoding anew.
struct RepackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repack", abstract: "Changes container and packaging: Annex B, MP4, MOV, MKV, TS and FLV.",
    discussion: """
      OUT's suffix selects the format: .h264 .264 .avc .h265 .265 .hevc, .mp4 .m4v, .mov, .mkv, .ts, .flv. Slices \
      stay as they are, byte for byte; access units without a delimiter get one, unless --drop aud. Audio, its \
      language and rotation are kept where the container supports them; what is left behind is listed. An interrupt \
      completes the file, so that it plays.

      Examples:
        h26x repack clip.mp4 -o clip.h264
        h26x repack clip.h264 -o clip.mp4 --framerate 25
        cat clip.ts | h26x repack - -o clip.mkv
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, whatever OUT's name is.") var format: TargetContainer?
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Option(help: ArgumentHelp("Drop aud, filler, sei or end-of-sequence NAL units, joined by +.", valueName: "kinds"))
  var drop: String?
  @Flag(help: "Do not write audio.") var noAudio = false
  @Flag(help: "Replace an existing file.") var force = false

  mutating func validate() throws {
    if format == nil { format = TargetContainer(fileName: output.string) }
    guard let format else {
      throw ValidationError(
        "-o \(output) does not say what to make: expected .h264, .mp4, .mov, .mkv, .ts or .flv, or --format")
    }
    if output == "-", !format.isStream {
      throw ValidationError(
        "-o - cannot be \(format.rawValue), which is written out of order; use mkv, ts, flv or annexb")
    }
    let kinds: Set<String> = ["aud", "filler", "sei", "end-of-sequence"]
    for kind in drop?.split(separator: "+") ?? [] where !kinds.contains(String(kind)) {
      throw ValidationError("--drop does not know \(kind); aud, filler, sei and end-of-sequence can be dropped")
    }
  }

  func run() async throws {
    try PluginFile.load()
    guard let format else { throw Failure("\(output): no format", .usage) }
    let input = try InputFile(file)
    let target = try OutputFile(output, force: force, inputs: [input])
    do throws(Failure) {
      guard target.isSeekable || format.isStream else {
        throw Failure("\(target.name): \(format.rawValue) is written out of order and needs a file")
      }
      let result: (summary: String, left: [String])
      do throws(Failure) {
        result = try await repack(input, into: target, as: format, audio: !noAudio)
      } catch  where !noAudio && input.size != nil && Interruption.signal == nil && error.mayBeOfAudio {
        // Audio that the muxer refuses only when it starts, such as MP2 in FLV: once more without audio.
        result = try await repack(input, into: target, as: format, audio: false)
      }
      try target.commit()
      Terminal.say(
        result.summary + (result.left.isEmpty ? "" : "; left behind: \(result.left.joined(separator: ", "))"))
    } catch {
      target.discard()
      throw error
    }
  }

  /// Writes the file.
  ///
  /// - Returns: a summary of what was written, and the streams and properties that were not.
  private func repack(
    _ input: InputFile, into target: OutputFile, as format: TargetContainer, audio: Bool
  ) async throws(Failure) -> (summary: String, left: [String]) {
    let route = try RepackRoute(format, into: target, drop: drop, audio: audio, fromPipe: input.size == nil)
    let leadIn = LeadIn(of: input)
    let reader = try MediaReader(
      input, output: target, framerate: framerate?.rate, whenWhole: { route.complete() },
      route: { stream, pipeline throws(PipelineError) in
        leadIn.include(in: stream.pad, isVideo: stream.codec != nil)
        return try route.attach(stream, pipeline)
      })
    let reason =
      framerate == nil
      ? "and no frame rate in the stream: give it with --framerate, such as 25"
      : "and --framerate does not help: their order cannot be read"
    route.onUntimed { [weak reader] in
      reader?.fail(Failure("\(input.name): pictures without a time, which \(format.name) needs, \(reason)"))
    }
    route.onGivenUp { [weak reader] in
      let reason = PipelineError.notLinkable(from: "audio", to: format.name)
      reader?.fail(Failure("\(input.name): audio that begins too late; --no-audio leaves it behind", cause: reason))
    }
    let pipeline = reader.pipeline
    let refusal = { route.refusal(of: reader.containerCaps).map { Failure("\(input.name): \($0)") } }
    try await Interruption.handled(
      by: {
        route.release()
        Task { try? await pipeline.finish() }
        Task { await Self.endIfStuck(target) }
      },
      during: { () async throws(Failure) in
        try await Progress.during(of: pipeline) { () async throws(Failure) in
          do throws(Failure) {
            try await reader.discover()
            if let refusal = refusal() { throw refusal }
            try await reader.playToEnd()
          } catch {
            // Pictures without a time may come before the reader knows that all streams are there.
            let failure = refusal() ?? route.explained(error)
            await pipeline.stop()
            throw failure
          }
        }
      })
    let taken = reader.streams.filter(route.hasTaken).map(\.codecName)
    var left = reader.otherStreams.filter { !route.hasTaken($0) }.map { "\($0.kind) (\($0.codecName))" }
    let kinds = reader.otherStreams.map(\.kind)
    let orientation = reader.video?.orientation
    let chapters = format == .mkv ? 0 : reader.video?.pad.chapterCount ?? 0
    await pipeline.stop()
    if let orientation {
      let isWritten = !format.isStream && target.path.map { MP4Orientation.write(orientation, into: $0) } == true
      if !isWritten { left.append("rotation (\(orientation))") }
    }
    left += route.losses
    left += MP4Info.unseen(input, seen: kinds)
    if leadIn.dropped > 0 {
      left.append(
        "\(Text.count(leadIn.dropped, "picture")) in front of what the file shows, which those up to the next keyframe may refer to"
      )
    }
    if chapters > 0 { left.append(Text.count(chapters, "chapter")) }
    var summary = "\(target.name): "
    if Interruption.signal != nil { summary += "\(Interruption.remark)\(Text.count(route.written, "access unit")): " }
    summary += "\(format.name), \(Text.list(taken))"
    if leadIn.early > 0 {
      summary += "; \(Text.count(leadIn.early, "picture")) in front of the first keyframe"
    }
    return (summary, left)
  }

  /// Ends the program when, after an interrupt, the output cannot be completed: it does not grow for ten seconds.
  private static func endIfStuck(_ target: OutputFile) async {
    var (size, still): (Int64, Int) = (-1, 0)
    while still < 10 {
      try? await Task.sleep(for: .seconds(1))
      let now = target.path.flatMap { try? Stat($0) }?.size ?? 0
      (size, still) = (now, now == size ? still + 1 : 0)
    }
    Terminal.say("\(target.name): cannot be completed")
    Ending.perform()
    _exit(128 + (Interruption.signal ?? SIGTERM))
  }
}

extension Failure {
  /// Whether it may be absent where audio is left behind: an error of the stream rather than of a file.
  fileprivate var mayBeOfAudio: Bool {
    switch cause {
    case .element(let failure): if case .resource = failure.error.code { false } else { true }
    case .notLinkable: true
    default: false
    }
  }
}
