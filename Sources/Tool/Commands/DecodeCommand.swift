// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import Glibc
import Synchronization
import SystemPackage

/// `h26x decode`: decodes to raw video, YUV4MPEG or PNG.
struct DecodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode", abstract: "Decodes to raw video, YUV4MPEG or PNG pictures.",
    discussion: """
      A name OUT that ends in .y4m makes YUV4MPEG, in .png one file for each picture (pictures-%04d.png), any other \
      name raw video without padding. Where the size or format changes, a new file begins: out.yuv, out-2.yuv, ...

      Examples:
        h26x decode clip.mp4 -o clip.y4m
        h26x decode clip.h264 -o - --format y4m | ffplay -
        h26x decode clip.h265 -o clip.nv12 --pixel-format NV12
        h26x decode clip.mkv -o clip-%04d.png --start 1:30 --duration 2
      """)

  /// What is written.
  enum Format: String, CaseIterable, ExpressibleByArgument { case raw, y4m, png }

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The output file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Option(help: "raw, y4m or png, whatever OUT's name is.") var format: Format?
  @Option(help: ArgumentHelp("Begin at this time: seconds or 1:02:03.5.", valueName: "time")) var start: TimeArgument?
  @Option(help: ArgumentHelp("Decode at most this long.", valueName: "time")) var duration: TimeArgument?
  @Option(help: ArgumentHelp("Write at most this many pictures.", valueName: "n")) var frames: Int?
  @Option(help: ArgumentHelp("Scale to this size, such as 640x360.", valueName: "size")) var size: SizeArgument?
  @Option(help: ArgumentHelp("Convert to this format, such as NV12.", valueName: "format")) var pixelFormat: String?
  @Option(
    help: ArgumentHelp(
      "Threads to decode with; 0 for one more than there are processors, 16 at most (one processor: 1).",
      valueName: "n"))
  var threads: Int32 = 0
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Flag(
    help: "Exit with status 2 when a picture was damaged or lost, or differs from the hash that the stream has of it.")
  var strict = false
  @Flag(help: "Replace an existing file.") var force = false

  mutating func validate() throws {
    if output.isEmpty { throw ValidationError("-o needs a name") }
    if let frames, frames < 1 { throw ValidationError("--frames needs a number above 0, not \(frames)") }
    guard (0...64).contains(threads) else { throw ValidationError("--threads needs 0 to 64, not \(threads)") }
    pixelFormat = pixelFormat?.uppercased()
    if let pixelFormat, VideoFormat(name: pixelFormat) == nil {
      throw ValidationError("--pixel-format does not know \(pixelFormat); I420, NV12, Y444, I420_10LE, RGB are some")
    }
    if resolvedFormat == .y4m, let pixelFormat, !YUV4MPEG.caps.contains(" \(pixelFormat)") {
      throw ValidationError("--pixel-format \(pixelFormat) does not go into YUV4MPEG")
    }
    if resolvedFormat == .png, pixelFormat != nil { throw ValidationError("--pixel-format does not go with PNG") }
    if resolvedFormat == .png, output != "-", NumberedName(output) == nil {
      throw ValidationError("-o needs a number's place for pictures, such as pictures-%04d.png")
    }
  }

  private var resolvedFormat: Format {
    if let format { return format }
    let name = output.string.lowercased()
    return name.hasSuffix(".y4m") ? .y4m : name.hasSuffix(".png") ? .png : .raw
  }

  func run() async throws {
    try PluginFile.load()
    let input = try InputFile(file)
    let isPNG = resolvedFormat == .png
    let first = isPNG ? nil : try OutputFile(output, force: force, inputs: [input])
    let pictures = try DecodedPictureReader(input, options)
    // Written by the decoder's thread.
    let writer = Mutex(
      PictureWriter(
        name: output, force: force, input: input, isYUV4MPEG: resolvedFormat == .y4m, isPNG: isPNG, first: first))
    do throws(Failure) {
      try await pictures.readAll { [limit = frames ?? .max] sample throws(Failure) in
        try writer.withLock { writer throws(Failure) in
          try writer.write(sample)
          return writer.pictures < limit
        }
      }
    } catch {
      await pictures.stop()
      writer.withLock { $0.discard() }
      throw error
    }
    let damage = pictures.damage
    await pictures.stop()
    let written = try writer.withLock { writer throws(Failure) in
      writer.finish()
      guard writer.pictures > 0 else {
        writer.discard()
        try Interruption.check()
        throw Failure(
          "\(input.name): no picture\(start == nil ? " could be decoded" : " after --start")\(damage.remark)")
      }
      try writer.commit()
      return "\(writer.place): \(Interruption.remark)\(writer.summary)"
    }
    Terminal.say("\(written)\(damage.remark)")
    if strict, damage.isAny { throw Failure("\(input.name): damaged", .unsoundStream) }
  }

  /// With one thread more than processors, none of them waits while a picture is written.
  private var decoderThreads: Int32 {
    guard threads == 0 else { return threads }
    let processors = Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return processors > 1 ? min(processors + 1, 16) : 1
  }

  private var options: DecodedPictureReader.Options {
    var options = DecodedPictureReader.Options(framerate: framerate?.rate, threads: decoderThreads, start: start?.time)
    options.duration = duration?.time
    options.verifiesPictureHash = strict
    var caps = resolvedFormat == .y4m ? YUV4MPEG.caps : "video/x-raw"
    if let pixelFormat { caps = "video/x-raw, format=(string)\(pixelFormat)" }
    if size != nil { options.filters.append(("videoscale", ["add-borders": false])) }
    if let size { caps += ", width=(int)\(size.width), height=(int)\(size.height)" }
    if resolvedFormat != .raw || pixelFormat != nil { options.filters.append(("videoconvert", [:])) }
    if caps != "video/x-raw" { options.filters.append(("capsfilter", ["caps": .string(caps)])) }
    if resolvedFormat == .png { options.filters.append(("pngenc", [:])) }
    return options
  }
}
