// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import Glibc
import VideoDecoding

/// The options of subcommands that decode: the choice of pictures, and their conversion.
struct DecodingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Begin at this time: seconds or 1:02:03.5.", valueName: "time")) var start: TimeArgument?
  @Option(help: ArgumentHelp("Decode at most this much video.", valueName: "time")) var duration: TimeArgument?
  @Option(help: ArgumentHelp("Decode at most this many pictures.", valueName: "n")) var frames: Int?
  @Option(help: ArgumentHelp("Scale to this size, such as 640x360.", valueName: "size")) var size: SizeArgument?
  @Option(
    help: ArgumentHelp("Convert to this format, such as NV12.", valueName: "format"), transform: { $0.uppercased() })
  var pixelFormat: String?
  @Option(
    help: ArgumentHelp(
      "Decoding threads. 0 means one more than there are processors, 16 at most; on one processor, 1.",
      valueName: "n"))
  var threads: Int32 = 0
  @Option(help: ArgumentHelp("Frame rate of a byte stream that has none.", valueName: "rate"))
  var framerate: FrameRateArgument?
  @Flag(
    help: "Exit with status 2 if a picture is damaged or lost, or differs from its hash in the stream.")
  var strict = false

  func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames needs a number above 0, not \(frames)") }
    guard 0...SessionConfiguration.mostThreads ~= Int(threads) else {
      throw ValidationError("--threads needs 0 to \(SessionConfiguration.mostThreads), not \(threads)")
    }
    if let pixelFormat, VideoFormat(name: pixelFormat) == nil {
      throw ValidationError(
        "--pixel-format: unknown format \(pixelFormat); expected a GStreamer format, such as I420, NV12 or RGB")
    }
  }

  /// With one thread more than processors, none of them waits while a picture is written.
  private var decoderThreads: Int32 {
    guard threads == 0 else { return threads }
    let processors = Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return processors > 1 ? min(processors + 1, 16) : 1
  }

  /// The reader's options for these.
  ///
  /// - Parameters:
  ///   - caps: the caps of the pictures, unless there is a pixel format; `nil` for any raw video.
  ///   - encoder: the element behind the converting elements.
  func options(caps wanted: String? = nil, encoder: String? = nil) -> DecodedPictureReader.Options {
    var options = DecodedPictureReader.Options(framerate: framerate?.rate, threads: decoderThreads, start: start?.time)
    options.duration = duration?.time
    options.verifiesPictureHash = strict
    options.verifiesSlices = strict
    var caps = wanted ?? "video/x-raw"
    if let pixelFormat { caps = "video/x-raw, format=(string)\(pixelFormat)" }
    if size != nil { options.filters.append(("videoscale", ["add-borders": false])) }
    if let size { caps += ", width=(int)\(size.width), height=(int)\(size.height)" }
    // The decoder makes NV12 itself, of 4:2:0 without a conversion.
    let isMadeByDecoder = pixelFormat == nil || pixelFormat == "NV12" && size == nil
    if wanted != nil || encoder != nil || !isMadeByDecoder { options.filters.append(("videoconvert", [:])) }
    if caps != "video/x-raw" { options.filters.append(("capsfilter", ["caps": .string(caps)])) }
    if let encoder { options.filters.append((encoder, [:])) }
    return options
  }
}

/// The options that choose the video of a container that has several.
struct VideoStreamOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Number of the video stream to read, as printed by info.", valueName: "n")) var stream:
    Int?
  @Option(help: ArgumentHelp("Number of the MPEG-TS program to read.", valueName: "n")) var program: Int?

  func validate() throws {
    if let stream, stream < 0 { throw ValidationError("--stream counts from 0, and cannot be \(stream)") }
  }

  /// The streams that the options select.
  var selection: StreamSelection { StreamSelection(streams: stream.map { [$0] }, program: program) }
}
