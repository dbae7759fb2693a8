// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import StreamReport
import SystemPackage

/// `h26x join`: writes files one behind the other into one, and encodes nothing that can be copied.
struct JoinCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Joins files of one codec without encoding.",
    discussion: """
      The files are written one behind the other, in the order given. They may have different encoders, containers, \
      sizes and frame rates, but one codec, chroma format and bit depth. OUT may have the formats of repack.

      Equal parameter sets are shared. If two different sets have the same id, the later file gets a free id in MP4, \
      MOV, Matroska and FLV, and its slices refer to it. In MPEG-TS and byte streams, each file brings its own sets.

      Each file begins with its first keyframe. Pictures that an edit list hides stay hidden in MP4 and MOV. \
      Elsewhere, they are left out, and pictures that depend on them are encoded. Sound and subtitles of a later file \
      continue those of the first if they have the same format; sound is copied in whole packets.

      Examples:
        h26x join part-1.mp4 part-2.mp4 part-3.mp4 -o whole.mp4
        h26x join GX010042.MP4 GX020042.MP4 -o ride.mp4
        h26x join intro.mkv show.ts -o show.mkv --plan
      """)

  @Argument(help: "The files, two or more.", completion: .file(), transform: FilePath.init(argument:))
  var files: [FilePath]
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file.", valueName: "out"), completion: .file(),
    transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: ArgumentHelp("Quality of encoded pictures (CRF), from 1, the best, to 51.", valueName: "n"))
  var quality = 18.0
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, regardless of OUT's suffix.") var format: TargetContainer?
  @Option(help: ArgumentHelp("Frame rate of byte streams that have none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Option(help: ArgumentHelp("Keep only sound and subtitles in this language, such as ger.", valueName: "code"))
  var language: String?
  @Flag(help: "Do not write audio.") var noAudio = false
  @Flag(
    help: "Write nothing, and print the plan as JSON: the access units and the parameter sets of each file.")
  var plan = false
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if format == nil { format = TargetContainer(fileName: output.string) }
    guard format != nil else {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .h264, .mp4, .mov, .mkv, .ts or .flv, or --format")
    }
    guard files.count > 1 else { throw ValidationError("expected two files or more") }
    guard 1...51 ~= quality else { throw ValidationError("--quality \(quality): expected a number from 1 to 51") }
  }

  func run() async throws {
    try PluginFile.load()
    guard let format else { throw Failure("\(output): no format", .usage) }
    var inputs: [InputFile] = []
    for file in files {
      let input = try InputFile(file)
      // Byte streams have no languages.
      inputs.append(input.isRaw ? input : try input.selecting(StreamSelection(language: language)))
    }
    guard plan else { return try await write(inputs, format) }
    var json = JSONText(isIndented: true)
    let join = try await join(inputs, format, isSeekable: OutputFile.isSeekable(output), surveys: true)
    join.write(to: &json)
    var writer = ResultWriter()
    writer.write(json.bytes + [0x0A])
    try writer.finish()
  }

  private func join(
    _ files: [InputFile], _ format: TargetContainer, isSeekable: Bool, surveys: Bool = false
  ) async throws(Failure) -> JoinPlan {
    var inputs: [JoinInput] = []
    for file in files {
      inputs.append(
        try await JoinInput(file, for: format, framerate: framerate?.rate, surveys: surveys))
    }
    return try JoinPlan(inputs, for: format, isSeekable: isSeekable)
  }

  private func write(_ inputs: [InputFile], _ format: TargetContainer) async throws {
    let target = try OutputFile(output, force: force, inputs: inputs)
    let result = try await target.written { () async throws(Failure) in
      let join = try await join(inputs, format, isSeekable: target.isSeekable)
      for remark in join.remarks { Terminal.say("\(target.name): \(remark)") }
      return try await Copy.run(
        join.copy(to: target, format, framerate: framerate?.rate, keepsAudio: !noAudio, quality: quality))
    }
    result.say(of: target)
  }
}
