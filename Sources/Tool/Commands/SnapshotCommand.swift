// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import Synchronization
import SystemPackage

/// `h26x snapshot`: writes one picture, or a sheet of pictures.
struct SnapshotCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Writes a picture, or a sheet of pictures, as PNG or JPEG.",
    discussion: """
      The picture is rotated upright and has square pixels, as players show it. Without --at and --frame, it is the \
      first. A placeholder in OUT, such as %03d, becomes 1, because a snapshot is one picture. To write several, use \
      decode.

      Examples:
        h26x snapshot clip.mp4 -o clip.png --at 1:30
        h26x snapshot clip.mp4 -o sheet.jpg --sheet 4x3
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file: .png or .jpg.", valueName: "out"), completion: .file(),
    transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: ArgumentHelp("The picture shown at this time: seconds or 1:02:03.5.", valueName: "time"))
  var at: TimeArgument?
  @Option(help: ArgumentHelp("The picture with this number, counted from 0 in presentation order.", valueName: "n"))
  var frame: Int?
  @Option(
    help: ArgumentHelp("A sheet of pictures from the whole file, columns x rows, such as 4x3.", valueName: "size"))
  var sheet: SizeArgument?
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none, for --at.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var video: VideoStreamOptions
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if StillPictureFormat(fileName: output.string) == nil {
      throw ValidationError("-o \(output) has no known suffix: expected .png or .jpg")
    }
    if [at != nil, frame != nil, sheet != nil].filter(\.self).count > 1 {
      throw ValidationError("--at, --frame and --sheet exclude one another")
    }
    if let frame, frame < 0 { throw ValidationError("--frame counts from 0, and cannot be \(frame)") }
    if let sheet, sheet.width * sheet.height > 400 || sheet.width > 20 {
      throw ValidationError("--sheet takes up to 20 columns and 400 pictures")
    }
  }

  func run() async throws {
    try PluginFile.load()
    let input = try InputFile(file).selecting(video.selection)
    let target = try OutputFile(NumberedName(output)?(1) ?? output, force: force, inputs: [input])
    try await target.written { () async throws(Failure) in
      let picture: Sample
      if let sheet {
        picture = try await ContactSheet.make(of: input, columns: Int(sheet.width), rows: Int(sheet.height))
      } else {
        picture = try await onePicture(input)
      }
      try await StillPictureFormat(fileName: output.string)?.write(picture, to: target)
    }
  }

  private func onePicture(_ input: InputFile) async throws(Failure) -> Sample {
    var options = DecodedPictureReader.Options(
      framerate: framerate?.rate, filters: ContactSheet.uprightFilters(for: input), start: at?.time)
    options.filters.append(
      ("capsfilter", ["caps": "video/x-raw, format=(string)RGB, pixel-aspect-ratio=(fraction)1/1"]))
    let reader = try DecodedPictureReader(input, options)
    let progress = Mutex((seen: 0, found: Sample?.none))
    try await reader.readAll { [wanted = frame ?? 0] sample throws(Failure) in
      progress.withLock { progress in
        if progress.seen == wanted { progress.found = sample }
        progress.seen += 1
        return progress.found == nil
      }
    }
    await reader.stop()
    try Interruption.check()
    let (seen, found) = progress.withLock { $0 }
    if let found { return found }
    if let frame { throw Failure("\(input.name): no picture \(frame); it has \(seen), counted from 0") }
    if let at { throw Failure("\(input.name): no picture at \(Text.time(at.time))") }
    throw Failure("\(input.name): no picture could be decoded")
  }
}
