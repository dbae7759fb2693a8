// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import SystemPackage

/// `h26x repack`: changes container and packaging without re-encoding.
struct RepackCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "repack", abstract: "Changes container and packaging: Annex B, MP4, MOV, MKV, TS, FLV and HLS.",
    discussion: """
      OUT's suffix selects the format: .h264 .264 .avc .h265 .265 .hevc, .mp4 .m4v, .mov, .mkv, .ts, .flv, .m3u8. \
      Slices stay as they are, byte for byte. Access units without a delimiter get one, unless --drop aud is given. \
      Keyframes of byte streams and TS get the parameter sets of the source's container. Audio, its language and the \
      rotation are kept if the container supports them. Text subtitles are converted if the container has another \
      codec for them. Everything that is dropped is listed, one item per line. An interrupt completes the file, so \
      that it plays.

      --start and --end cut, counted from the first picture, as in decode. --cut keyframe begins with the keyframe \
      at or before --start, and prints the distance. --cut hidden begins with the picture that is shown at --start. \
      The pictures that it depends on are in the file too, hidden by an edit list, which MP4 and MOV have.

      MP4 and MOV that are written into a pipe consist of fragments, which play while they load.

      .m3u8 is the multivariant playlist of HTTP live streaming. Playlists of the video and of each sound, and their \
      segments, are in a folder of the same name without the suffix. Segments are fragments of MP4. They begin with \
      keyframes, and last --segment-duration or longer.

      Without --streams, --program and --language, everything that belongs to the first video is kept. info prints \
      the numbers of streams and programs.

      Examples:
        h26x repack clip.mp4 -o clip.h264
        h26x repack clip.h264 -o clip.mp4 --framerate 25
        cat clip.ts | h26x repack - -o clip.mkv
        h26x repack clip.mkv -o - --format mp4 | cat > clip.mp4
        h26x repack clip.mkv -o part.mp4 --start 1:30 --end 2:00 --cut hidden
        h26x repack clip.mp4 -o site/clip.m3u8 --segment-duration 4
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: "annexb, mp4, mov, mkv, ts or flv, regardless of OUT's suffix.") var format: TargetContainer?
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Option(help: ArgumentHelp("Drop aud, filler, sei or end-of-sequence NAL units, joined by +.", valueName: "kinds"))
  var drop: String?
  @Option(help: ArgumentHelp("Start of the part to keep: seconds or 1:02:03.5.", valueName: "time"))
  var start: TimeArgument?
  @Option(help: ArgumentHelp("End of the part to keep.", valueName: "time")) var end: TimeArgument?
  @Option(
    help: "Begin at the keyframe at or before --start (keyframe), or at --start, with earlier pictures hidden (hidden)."
  )
  var cut: Window.Bounds.Mode?
  @Option(help: ArgumentHelp("Keep only the streams with these numbers, such as 0,2.", valueName: "list"))
  var streams: StreamNumbersArgument?
  @Option(help: ArgumentHelp("Number of the MPEG-TS program to read.", valueName: "n")) var program: Int?
  @Option(help: ArgumentHelp("Keep only sound and subtitles in this language, such as ger.", valueName: "code"))
  var language: String?
  @Option(help: ArgumentHelp("Duration of segments of .m3u8: 6 seconds by default.", valueName: "time"))
  var segmentDuration: TimeArgument?
  @Flag(help: "Do not write audio.") var noAudio = false
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if format == nil { format = isPlaylist ? .hls : TargetContainer(fileName: output.string) }
    guard let format else {
      throw ValidationError(
        "-o \(output) has no known suffix: expected .h264, .mp4, .mov, .mkv, .ts, .flv or .m3u8, or --format")
    }
    try validateSegments(format)
    try validateCut(format)
    let kinds: Set<String> = ["aud", "filler", "sei", "end-of-sequence"]
    for kind in drop?.split(separator: "+") ?? [] where !kinds.contains(String(kind)) {
      throw ValidationError("--drop: unknown kind \(kind); expected aud, filler, sei or end-of-sequence, joined by +")
    }
  }

  private var isPlaylist: Bool { output.extension?.lowercased() == "m3u8" }

  private func validateSegments(_ format: TargetContainer) throws {
    guard let segmentDuration else { return }
    guard format == .hls else { throw ValidationError("--segment-duration needs -o OUT.m3u8") }
    guard Self.segmentDurations.contains(segmentDuration.time) else {
      throw ValidationError("--segment-duration \(Text.time(segmentDuration.time)): expected 0.1 seconds to an hour")
    }
  }

  private static let segmentDurations = ClockTime(nanoseconds: 100_000_000)...ClockTime(nanoseconds: 3_600_000_000_000)

  private func validateCut(_ format: TargetContainer) throws {
    guard start != nil || end != nil else {
      if let cut { throw ValidationError("--cut \(cut.rawValue) needs --start or --end") }
      return
    }
    if cut == .exact { throw ValidationError("--cut exact encodes pictures, which repack does not do") }
    if let end, end.time <= start?.time ?? .zero {
      throw ValidationError("--end \(Text.time(end.time)) is not after --start \(Text.time(start?.time ?? .zero))")
    }
    if cut == .hidden, output == "-" { throw ValidationError(Self.hidingNeedsAFile) }
    if cut == .hidden, !format.isMovie || format == .hls {
      throw ValidationError("--cut hidden needs an edit list, which \(format.name) does not have; mp4 and mov do")
    }
  }

  private static let hidingNeedsAFile = "--cut hidden needs a file, because an edit list cannot be written into a pipe"

  /// The part of the file that is kept; `nil` for everything.
  private var bounds: Window.Bounds? {
    guard start != nil || end != nil else { return nil }
    return Window.Bounds(
      start: Int64(clamping: start?.time.nanoseconds ?? 0), end: end.map { Int64(clamping: $0.time.nanoseconds) },
      mode: cut ?? .keyframe)
  }

  func run() async throws {
    try PluginFile.load()
    guard let format else { throw Failure("\(output): no format", .usage) }
    let selection = StreamSelection(streams: streams?.numbers, program: program, language: language)
    let input = try InputFile(file).selecting(selection)
    let target =
      try format == .hls
      ? OutputFile(playlist: output, force: force, inputs: [input])
      : OutputFile(output, force: force, inputs: [input])
    let result = try await target.written { () async throws(Failure) in
      guard cut != .hidden || format.hasEditList(in: target) else {
        throw Failure("\(target.name): \(Self.hidingNeedsAFile)")
      }
      var plan = CopyPlan(
        input: input, target: target, container: format, framerate: framerate?.rate, drop: drop, keepsAudio: !noAudio,
        bounds: bounds.map { [$0] } ?? [])
      if let segmentDuration { plan.segmentDuration = Int64(clamping: segmentDuration.time.nanoseconds) }
      return try await Copy.run(plan)
    }
    for remark in result.remarks { Terminal.say("\(target.name): \(remark)") }
    Terminal.say(result.summary)
    for loss in result.left { Terminal.say("\(target.name): left behind: \(loss)") }
  }
}

extension TargetContainer: ExpressibleByArgument {
  /// The formats that --format selects: only a file's suffix selects playlists.
  private static let named = allCases.filter { $0 != .hls }

  package init?(argument: String) {
    guard let format = Self.named.first(where: { $0.rawValue == argument }) else { return nil }
    self = format
  }

  package static var allValueStrings: [String] { named.map(\.rawValue) }
}
extension Window.Bounds.Mode: ExpressibleByArgument {}
