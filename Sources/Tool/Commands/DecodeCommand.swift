// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import Synchronization
import SystemPackage

/// `h26x decode`: decodes to raw video, YUV4MPEG or PNG.
struct DecodeCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "decode", abstract: "Decodes to raw video, YUV4MPEG or PNG pictures.",
    discussion: """
      OUT's suffix selects the format: .y4m for YUV4MPEG, .png for one file per picture (pictures-%04d.png), \
      anything else for raw video without padding. If the size or format changes, a new file begins: out.yuv, \
      out-2.yuv, ...

      Examples:
        h26x decode clip.mp4 -o clip.y4m
        h26x decode clip.h264 -o - --format y4m | ffplay -
        h26x decode clip.h265 -o clip.nv12 --pixel-format NV12
        h26x decode clip.mkv -o clip-%04d.png --start 1:30 --duration 2
      """)

  /// The output format.
  enum Format: String, CaseIterable, ExpressibleByArgument { case raw, y4m, png }

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: "raw, y4m or png, regardless of OUT's suffix.") var format: Format?
  @OptionGroup var decoding: DecodingOptions
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var video: VideoStreamOptions
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if output.isEmpty { throw ValidationError("-o needs a name") }
    let pixelFormat = decoding.pixelFormat
    if resolvedFormat == .y4m, let pixelFormat, !YUV4MPEG.caps.contains(" \(pixelFormat)") {
      throw ValidationError("--pixel-format \(pixelFormat) cannot be written as YUV4MPEG")
    }
    if resolvedFormat == .png, pixelFormat != nil {
      throw ValidationError("--pixel-format cannot be combined with PNG")
    }
    if resolvedFormat == .png, output != "-", NumberedName(output) == nil {
      throw ValidationError("-o needs a placeholder for the number of each picture, such as pictures-%04d.png")
    }
  }

  private var resolvedFormat: Format {
    if let format { return format }
    let name = output.string.lowercased()
    return name.hasSuffix(".y4m") ? .y4m : name.hasSuffix(".png") ? .png : .raw
  }

  func run() async throws { try await Interruption.completing(during: decode) }

  private func decode() async throws {
    try PluginFile.load()
    let input = try InputFile(file).selecting(video.selection)
    let isPNG = resolvedFormat == .png
    let first = isPNG ? nil : try OutputFile(output, force: force, inputs: [input])
    let pictures = try DecodedPictureReader(input, options)
    // Written by the decoder's thread.
    let writer = Mutex(
      PictureWriter(
        name: output, force: force, input: input, isYUV4MPEG: resolvedFormat == .y4m, isPNG: isPNG, first: first))
    do throws(Failure) {
      try await pictures.readAll { [limit = decoding.frames ?? .max] sample throws(Failure) in
        try writer.withLock { writer throws(Failure) in
          try writer.write(sample)
          return writer.pictures < limit
        }
      }
    } catch {
      writer.withLock { $0.discard() }
      throw error
    }
    let (damage, remark) = (pictures.damage, pictures.reader.remark)
    await pictures.stop()
    let written = try writer.withLock { writer throws(Failure) in
      writer.finish()
      guard writer.pictures > 0 else {
        writer.discard()
        try Interruption.check()
        throw pictures.nothing(damage)
      }
      try writer.commit()
      return "\(writer.place): \(Interruption.remark)\(writer.summary)"
    }
    Terminal.say("\(written)\(remark)\(damage.remark)")
    if decoding.strict, damage.isAny { throw Failure("\(input.name): damaged", .unsoundStream) }
  }

  private var options: DecodedPictureReader.Options {
    decoding.options(
      caps: resolvedFormat == .y4m ? YUV4MPEG.caps : nil, encoder: resolvedFormat == .png ? "pngenc" : nil)
  }
}
