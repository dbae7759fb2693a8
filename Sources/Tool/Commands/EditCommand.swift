// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import H26x
import SystemPackage

/// `h26x edit`: changes what a stream's headers announce, without touching a slice.
struct EditCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Changes colour, shape, rate, level, latency and SEI in the headers alone.",
    discussion: """
      Parameter sets and SEI are written anew, in the stream and in the container's description of it. Slices are \
      copied byte for byte, and so are all parts of a byte stream that the options do not change. OUT's suffix selects \
      the format, as in repack. What the standard forbids is refused, with its clause. --dry-run lists the fields with \
      their old and new values and writes nothing.

      --latency writes how many pictures wait for one that is decoded later: auto measures that first, in a reading of \
      its own; less than the stream needs is refused. Decoders that have to guess wait for more: often for a whole \
      buffer.

      Names of colours: \(ColourArgument.names). Types of SEI are numbers or the standard's names, joined by commas.

      Examples:
        h26x edit clip.mp4 -o out.mp4 --colour bt709 --range limited
        h26x edit clip.h264 --latency auto --dry-run
        h26x edit clip.h265 -o out.h265 --level 4.1 --remove-sei user_data_unregistered
        h26x inspect --sei user_data_registered_itu_t_t35 clip.mp4 > captions.jsonl
        h26x edit other.mp4 -o out.mp4 --insert-sei-from captions.jsonl
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath?
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, whatever OUT's name is.") var format: TargetContainer?
  @OptionGroup(title: "Edits") var edits: EditOptions
  @Flag(help: "List what would change, and write nothing.") var dryRun = false
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    guard !dryRun else {
      guard output == nil else {
        throw ValidationError("--dry-run writes nothing: -o \(output?.string ?? "") has no use")
      }
      return
    }
    guard let output else { throw ValidationError("expected -o OUT, or --dry-run") }
    if format == nil { format = TargetContainer(fileName: output.string) }
    guard format != nil else {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .h264, .mp4, .mov, .mkv, .ts or .flv, or --format")
    }
  }

  func run() async throws {
    let input = try InputFile(file)
    let list = try await edits(for: input)
    guard let output, let format else {
      let edit = try await EditSource(input: input, edits: list).read()
      var writer = ResultWriter()
      for line in edit.lines { writer.write(line + "\n") }
      return try writer.finish()
    }
    let target = try OutputFile(output, force: force, inputs: [input])
    do throws(Failure) {
      let summary = try await Self.write(input, list, target, format)
      try target.commit()
      for line in summary { Terminal.say(line) }
    } catch {
      target.discard()
      throw error
    }
  }

  /// Writes the edited file. Returns lines for the user.
  private static func write(
    _ input: InputFile, _ edits: [StreamEdit], _ target: OutputFile, _ format: TargetContainer
  ) async throws(Failure) -> [String] {
    guard !input.isRaw || format != .annexb else {
      var writer = try ResultWriter(target)
      let edit = try await EditSource(input: input, edits: edits).editByteStream { (bytes: [UInt8]) throws(Failure) in
        writer.write(bytes)
      }
      try writer.finish()
      let interrupted = Interruption.signal == nil ? "" : "\(Interruption.remark)"
      return [
        "\(target.name): \(interrupted)\(edit.hasChanged ? Text.count(edit.lines.count, "change") : "nothing to change")"
      ]
    }
    try PluginFile.load()
    var repackaging = Repackaging(
      input: input, target: target, container: format, framerate: nil, drop: nil, keepsAudio: true, cut: nil)
    repackaging.edits = edits
    let (summary, left) = try await repackaging.run()
    return [summary] + left.map { "\(target.name): left behind: \($0)" }
  }

  /// The edits, for which the stream is measured where they require it.
  private func edits(for input: InputFile) async throws(Failure) -> [StreamEdit] {
    var list = edits.list
    if let file = edits.insertSEIFrom { list += try SEIFile(path: file).insertions().map { .insertSEI($0) } }
    let isMeasured = if case .lowest = edits.level { true } else { edits.latency != nil }
    guard isMeasured else { return list }
    guard input.size != nil else {
      throw Failure("\(input.name): what is measured is read twice, which a pipe does not allow; save it first")
    }
    let measure = try await StreamMeasure(input)
    // Before a level, which has limits for the buffer.
    if let latency = edits.latency { list.insert(try Self.edit(latency, measure, input), at: 0) }
    if case .lowest = edits.level {
      guard let level = try measure.level(after: list, input) else {
        throw Failure("\(input.name): it exceeds the limits of every level")
      }
      list.append(.level(level))
    }
    return list
  }

  /// Writes the measured reorder depth, and refuses a lower one.
  private static func edit(
    _ latency: LatencyArgument, _ measure: StreamMeasure, _ input: InputFile
  ) throws(Failure) -> StreamEdit {
    guard measure.unknown == 0 else {
      throw Failure(
        "\(input.name): \(Text.count(measure.unknown, "picture")) whose order cannot be read, so that it cannot be measured"
      )
    }
    switch latency {
    case .measured: return measure.edit(depth: measure.depth)
    case .frames(let frames):
      guard frames >= measure.depth else {
        throw Failure(
          "\(input.name): access unit \(measure.accessUnit) is shown before \(Text.count(measure.depth, "picture")) that "
            + "come in front of it: --latency \(frames) is less (\(measure.clause))")
      }
      return measure.edit(depth: frames)
    }
  }
}
