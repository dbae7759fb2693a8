// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import StreamReport
import SystemPackage

/// `h26x cut`: keeps parts of a file, and encodes no more than the pictures at their ends.
struct CutCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "cut", abstract: "Keeps parts of a file, joined into one or a file each.",
    discussion: """
      Positions are times since the first picture (90, 1:30, 1:02:03.5), or pictures in the order in which they are \
      shown, from #0. A range A-B contains the pictures that begin at or after A and before B. A- ends with the file. If the \
      pattern OUT has a number, such as part-%03d.mp4, each range gets a file of its own. Otherwise, the ranges are \
      joined in the order given. A range that continues the one in front of it needs no encoding between them. OUT may \
      have the formats of repack, and sound, subtitles and chapters follow.

      A list is CSV (start,end,name in each line) or comskip's EDL, whose parts are removed.

      --mode exact keeps exactly the pictures of each range. Pictures at its start and end that depend on others are \
      encoded, and all other pictures are copied. --mode hidden also shows exactly these pictures, and copies all of \
      them. The file then contains hidden pictures too, and needs the edit list of MP4 and MOV. --mode keyframe begins \
      each range with the keyframe at or before its start. By default, the mode is the first of these that works for a \
      range, and a line reports why it is not exact.

      Examples:
        h26x cut clip.mp4 -o best.mp4 --range 1:30-2:00 --range 5:10-5:25
        h26x cut clip.mkv -o part-%02d.mkv --every 10:00
        h26x cut show.ts -o show.mp4 --list show.edl
        h26x cut clip.mp4 -o scene.mp4 --range '#100-#250'
      """)

  @Argument(help: "The file.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file, or a pattern with %d or %03d.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Option(
    parsing: .unconditionalSingleValue, help: ArgumentHelp("A part to keep; may be repeated.", valueName: "A-B"),
    transform: Self.range)
  var range: [CutRange] = []
  @Option(
    parsing: .unconditionalSingleValue, help: ArgumentHelp("A part to leave out; may be repeated.", valueName: "A-B"),
    transform: Self.range)
  var remove: [CutRange] = []
  @Option(help: ArgumentHelp("Start of one part to keep.", valueName: "A"), transform: Self.position)
  var start: CutPosition?
  @Option(help: ArgumentHelp("End of one part to keep.", valueName: "B"), transform: Self.position)
  var end: CutPosition?
  @Option(
    help: ArgumentHelp(
      "A file with parts to keep (CSV) or to leave out (EDL); - is standard input.", valueName: "file"),
    completion: .file(), transform: FilePath.init(argument:))
  var list: FilePath?
  @Option(help: ArgumentHelp("Pieces of this length.", valueName: "time")) var every: TimeArgument?
  @Flag(help: "A part for each chapter.") var chapters = false
  @Option(help: "How a part begins that does not begin with a keyframe: exact, hidden or keyframe.")
  var mode: Window.Bounds.Mode?
  @Option(help: ArgumentHelp("Quality of encoded pictures (CRF), from 1, the best, to 51.", valueName: "n"))
  var quality = 18.0
  @Flag(help: "Encode all of a range in which no picture can be copied, because it has gradual refreshes only.")
  var encodeAll = false
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, regardless of OUT's suffix.") var format: TargetContainer?
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Option(help: ArgumentHelp("Keep only the streams with these numbers, such as 0,2.", valueName: "list"))
  var streams: StreamNumbersArgument?
  @Option(help: ArgumentHelp("Number of the MPEG-TS program to read.", valueName: "n")) var program: Int?
  @Option(help: ArgumentHelp("Keep only sound and subtitles in this language, such as ger.", valueName: "code"))
  var language: String?
  @Flag(help: "Do not write audio.") var noAudio = false
  @Flag(
    help: "Write nothing, and print the plan as JSON: the access units of each range, and the mode with its reason.")
  var plan = false
  @Flag(help: "Replace existing files.") var force = false
  @OptionGroup var progress: ProgressOptions

  private static func range(_ text: String) throws -> CutRange {
    do throws(Failure) { return try CutRange(text: text) } catch { throw ValidationError(error.message) }
  }

  private static func position(_ text: String) throws -> CutPosition {
    guard let position = CutPosition(text: text) else {
      throw ValidationError("expected a time such as 90, 1:30 or 1:02:03.5, or a picture such as #0")
    }
    return position
  }

  mutating func validate() throws {
    if format == nil { format = TargetContainer(fileName: output.string) }
    guard let format else {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .h264, .mp4, .mov, .mkv, .ts or .flv, or --format")
    }
    guard !NumberedName.hasSeveralNumbers(output) else {
      throw ValidationError("-o \(output): expected one number, such as part-%03d.mp4")
    }
    let kinds = [!range.isEmpty, !remove.isEmpty, start != nil || end != nil, list != nil, every != nil, chapters]
    guard kinds.count(where: { $0 }) == 1 else {
      throw ValidationError("expected one of --range, --remove, --start and --end, --list, --every and --chapters")
    }
    if list == "-", file == "-" { throw ValidationError("--list - and - both are standard input") }
    if let every, every.time == .zero { throw ValidationError("--every 0: expected a time above 0") }
    do throws(Failure) { _ = try CutRange(start: start ?? .beginning, end: end) } catch {
      throw ValidationError(error.message)
    }
    guard 1...51 ~= quality else { throw ValidationError("--quality \(quality): expected a number from 1 to 51") }
    if mode == .hidden, output == "-" || !format.isMovie {
      throw ValidationError("--mode hidden needs an edit list, which MP4 and MOV files have; \(output) cannot have one")
    }
  }

  func run() async throws {
    try PluginFile.load()
    guard let format else { throw Failure("\(output): no format", .usage) }
    let selection = StreamSelection(streams: streams?.numbers, program: program, language: language)
    let input = try InputFile(file).selecting(selection)
    let request = try request()
    if plan { return try await write(planOf: request, for: input, format) }
    let ranges = try await request.ranges(of: input, framerate: framerate?.rate)
    for range in ranges {
      if let end = range.missingEnd { Terminal.say("\(input.name): ends before \(end.text), and so does the range") }
    }
    let name = NumberedName(output)
    guard input.size != nil || targetRanges(ranges).count == 1 else {
      throw Failure("\(input.name): several ranges need a file, because each is read by itself; a pipe is read once")
    }
    guard let name else { return try await write(targetRanges(ranges), of: input, to: output, format) }
    for number in ranges.indices { try OutputFile.check(name(number + 1), force: force, inputs: [input], texts: texts) }
    var isWritten = false
    for (number, range) in ranges.enumerated() where Interruption.signal == nil {
      do throws(Failure) {
        try await write([range], of: input, to: name(number + 1), format)
        isWritten = true
      } catch {
        guard error.isEmptyRange else { throw error }
        Terminal.say(error.message)
      }
    }
    if !isWritten, Interruption.signal == nil { throw Failure("\(output): no range has a picture") }
  }

  /// The ranges to cut: joined, unless each gets a file of its own.
  private func targetRanges(_ ranges: [ResolvedRange]) -> [ResolvedRange] {
    NumberedName(output) == nil ? ranges.joined : ranges
  }

  /// Files beside the input that outputs must not replace.
  private var texts: [FilePath] { [list].compactMap(\.self) }

  private func write(planOf request: CutRequest, for input: InputFile, _ format: TargetContainer) async throws {
    let planner = try await CutPlanner(reading: input, framerate: framerate?.rate)
    let isSeekable = OutputFile.isSeekable(output)
    let ranges = targetRanges(try await request.ranges(of: input, framerate: framerate?.rate, planner))
    try planner.check(ranges, of: input)
    let plan = planner.plan(
      planner.ending(ranges),
      CutPlan.Abilities(
        mode: mode ?? (isSeekable ? nil : .keyframe), because: mode == nil ? .pipe : .requested,
        refusal: planner.obstacle.map { CutPlan.Reason($0) },
        openSeam: planner.openObstacle.map { CutPlan.Reason($0) },
        hasEditList: format.isMovie && isSeekable, encodesAll: encodeAll, needsPromises: !isSeekable,
        beginning: NumberedName(output) == nil ? .anew : .asItIs))
    try plan.check(OutputFile.name(of: output), canRetry: isSeekable)
    var json = JSONText(isIndented: true)
    plan.write(to: &json)
    var writer = ResultWriter()
    writer.write(json.bytes + [0x0A])
    try writer.finish()
  }

  private func request() throws -> CutRequest {
    if let list { return CutRequest(try CutList(file: list)) }
    if !remove.isEmpty { return .removals(remove) }
    if let every { return .pieces(Int64(clamping: every.time.nanoseconds)) }
    if chapters { return .chapters }
    return .ranges(range.isEmpty ? [try CutRange(start: start ?? .beginning, end: end)] : range)
  }

  private func write(
    _ ranges: [ResolvedRange], of input: InputFile, to output: FilePath, _ format: TargetContainer
  ) async throws(Failure) {
    let target = try OutputFile(output, force: force, inputs: [input], texts: texts)
    // A cut that turns out to be impossible is made again in another way.
    let canRetry = input.size != nil && target.isSeekable
    let mode = mode ?? (canRetry ? .exact : format.hasEditList(in: target) ? .hidden : .keyframe)
    let bounds = ranges.map { Window.Bounds(start: $0.start, end: $0.end, mode: mode, isHalfOpen: true) }
    let result = try await target.written { () async throws(Failure) in
      guard mode != .hidden || format.hasEditList(in: target) else {
        throw Failure("\(target.name): --mode hidden needs a file, because an edit list cannot be written into a pipe")
      }
      var plan = CopyPlan(
        input: input, target: target, container: format, framerate: framerate?.rate, keepsAudio: !noAudio,
        quality: quality, bounds: bounds)
      plan.encodesAll = encodeAll
      return try await Copy.run(plan)
    }
    if self.mode == nil, !canRetry {
      Terminal.say(
        "\(target.name): cut with --mode \(mode.rawValue), because the \(target.isSeekable ? "input" : "output") is a "
          + "pipe; --mode exact tries an exact cut")
    }
    result.say(of: target)
  }
}

extension Copy.Result {
  /// Prints the result of a cut or a join.
  func say(of target: OutputFile) {
    for remark in remarks { Terminal.say("\(target.name): \(remark)") }
    Terminal.say(summary)
    for range in ranges { Terminal.say(range) }
    if hidesPictures {
      Terminal.say(
        "\(target.name): the hidden pictures are in the file; GStreamer's qtdemux leaves out the last pictures of such files"
      )
    }
    for loss in left { Terminal.say("\(target.name): left behind: \(loss)") }
  }
}
