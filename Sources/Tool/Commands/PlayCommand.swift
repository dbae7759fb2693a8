// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import Glibc
import Synchronization
import SystemPackage

/// `h26x play`: plays a file on the screen.
struct PlayCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Plays on the screen.",
    discussion: """
      Keys: space pauses and resumes, . shows the next picture, left and right jump 5 seconds, q quits.

      Reports damaged pictures at the end. --strict also finds damage inside slices, and pictures that differ from \
      their hash in the stream.

      Examples:
        h26x play clip.mp4
        h26x play --immediate --sink fakesink clip.h264
        h26x play --strict clip.h265
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Flag(help: "Show each picture as soon as it is decoded, not at its time, and without sound.") var immediate = false
  @Option(help: ArgumentHelp("Begin at this time: seconds or 1:02:03.5.", valueName: "time")) var start: TimeArgument?
  @Option(help: ArgumentHelp("The GStreamer element that shows pictures.", valueName: "element")) var sink: String?
  @Option(help: ArgumentHelp("The GStreamer element that plays sound.", valueName: "element")) var audioSink: String?
  @Flag(help: "Do not play audio.") var noAudio = false
  @Flag(
    help: "Exit with status 2 if a picture is damaged or lost, or differs from its hash in the stream.")
  var strict = false
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var progress: ProgressOptions

  func run() async throws {
    try PluginFile.load()
    var sinks = try PlaySinks(video: sink, audio: audioSink)
    let keys = file == "-" ? nil : Keys()
    defer { keys?.restore() }
    let playing = Playing()
    let control = Task { if let keys { await Self.obey(keys, playing) } }
    defer { control.cancel() }
    let input = try InputFile(file, spoolsMP4: false)
    if let failure = input.missingMovieFailure { throw failure }
    sinks.isImmediate = immediate
    sinks.isStrict = strict
    let hasSound = !noAudio && !immediate && (sink == nil || audioSink != nil)
    let reader = try MediaReader(input) { [sinks] stream, pipeline throws(PipelineError) in
      if let codec = stream.codec { return try sinks.attachVideo(codec, pipeline) }
      guard hasSound, stream.kind == "audio" else { return nil }
      return try sinks.attachAudio(pipeline)
    }
    let pipeline = reader.pipeline
    do throws(Failure) {
      try await reader.preroll()
      if let start { try await seek(pipeline, to: start.time) }
      try await Interruption.handled(
        by: { Task { await pipeline.stop() } },
        during: { () async throws(Failure) in
          try await Progress.during(ProgressPlace(of: pipeline), isAtItsTime: !immediate) { () async throws(Failure) in
            try await reader.playToEnd { playing.begin(pipeline) }
          }
        })
    } catch {
      await pipeline.stop()
      throw error
    }
    var damage = Damage(try? pipeline.element("decoder").fields("stats"), parser: reader.parserStatistics)
    damage.isCutOff = input.isCutOff
    // Pictures between a keyframe and the target of a seek are dropped on purpose.
    if start != nil || playing.hasSought { damage.dropped = 0 }
    await pipeline.stop()
    if damage.isAny { Terminal.say("\(input.name)\(damage.remark)") }
    if strict, damage.isAny { throw Failure("\(input.name): damaged", .unsoundStream) }
  }

  private func seek(_ pipeline: Pipeline, to time: ClockTime) async throws(Failure) {
    if let duration = pipeline.duration, time >= duration {
      throw Failure("\(file): --start \(Text.time(time)) is beyond the end at \(Text.time(duration))")
    }
    do { try await pipeline.seek(to: time) } catch { Terminal.say("\(file): cannot seek: playing from the beginning") }
  }

  /// The pipeline, once it plays.
  private final class Playing: Sendable {
    private let state = Mutex<(pipeline: Pipeline?, hasSought: Bool)>((nil, false))
    private let begun = AsyncStream.makeStream(of: Void.self)
    var pipeline: Pipeline? { state.withLock { $0.pipeline } }
    /// Whether a key jumped to another time.
    var hasSought: Bool { state.withLock { $0.hasSought } }

    func begin(_ pipeline: Pipeline) {
      state.withLock { $0.pipeline = pipeline }
      begun.continuation.finish()
    }

    func seek(_ pipeline: Pipeline, to time: ClockTime, _ options: Pipeline.SeekOptions) async {
      state.withLock { $0.hasSought = true }
      try? await pipeline.seek(to: time, options)
    }

    /// The pipeline. A key that is pressed before it plays waits: a pause would be undone.
    func whenBegun() async -> Pipeline? {
      for await _ in begun.stream {}
      return pipeline
    }
  }

  private static func obey(_ keys: Keys, _ playing: Playing) async {
    let (orders, queue) = AsyncStream.makeStream(of: Keys.Key.self)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { if let pipeline = await playing.whenBegun() { await carryOut(orders, pipeline, playing) } }
      for await key in keys.pressed {
        // Quits immediately, ahead of the keys before it: a seek may wait for pictures that never come.
        guard key == .quit else {
          queue.yield(key)
          continue
        }
        guard let pipeline = playing.pipeline else {
          // Still waiting for the file, perhaps for a pipe that nothing writes to; there is nothing to complete.
          keys.restore()
          _exit(0)
        }
        await pipeline.stop()
        group.cancelAll()
        break
      }
      queue.finish()
    }
  }

  private static func carryOut(_ keys: AsyncStream<Keys.Key>, _ pipeline: Pipeline, _ playing: Playing) async {
    var isPaused = false
    for await key in keys {
      switch key {
      case .pause:
        isPaused.toggle()
        try? await isPaused ? pipeline.pause() : pipeline.play()
      case .step:
        if !isPaused { try? await pipeline.pause() }
        isPaused = true
        try? await pipeline.step()
      case .back, .forward:
        let now = pipeline.position ?? .zero
        await playing.seek(
          pipeline, to: key == .forward ? now + .seconds(5) : now - .seconds(5),
          [.flush, .keyUnit, key == .forward ? .after : []])
      case .quit: return
      }
    }
  }
}
