// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import StreamReport
import SystemPackage

/// `h26x info`: prints container, format, metadata and other streams of files, or the decoders of this machine.
struct InfoCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Prints container, format, duration, frame rate, HDR, captions, encoder and other streams of files.",
    discussion: """
      Reads no more of a file than it needs. --count reads all of it: it counts pictures and groups of pictures, \
      duration and bitrate are exact, and captions and metadata behind the first pictures are found.

      --get prints values of the JSON that --json prints, one per line. Names are paths: streams.language. The members \
      of video need no path: width, dolby-vision, captions.service. A file without the value is a failure. --template \
      prints a line with such values for each file; {captions.service|none} prints "none" for files without captions.

      --decoders lists what each GPU's driver decodes, for --hardware in the other commands.

      Examples:
        h26x info clip.mp4
        h26x info --json --count *.h264
        h26x info --get framerate clip.mp4
        h26x info --template '{file}: {width}x{height}, {framerate}' *.mp4
        h26x info --decoders
      """)

  @Argument(help: "The files; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var files: [FilePath] = []
  @Flag(help: "Read whole files, and count pictures and groups of pictures.") var count = false
  @Flag(help: "Print a JSON array with an object for each file or decoder.") var json = false
  @Option(help: ArgumentHelp("Print only the value of this name, or each on a line.", valueName: "name"))
  var get: String?
  @Option(
    help: ArgumentHelp("Print this text, with values in place of names in braces; {{ is a brace.", valueName: "text"),
    transform: {
      do throws(Failure) { return try InfoTemplate($0) } catch { throw ValidationError(error.message) }
    })
  var template: InfoTemplate?
  @Flag(help: "List the decoders of this machine, with the profiles and sizes that GPUs' drivers report.")
  var decoders = false
  @Option(
    help: ArgumentHelp(
      "Query this GPU only: a render node (/dev/dri/renderD128), an X display (:0) or a CUDA device number (0).",
      valueName: "device"))
  var hardwareDevice: String?
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if get != nil, json || decoders || template != nil {
      throw ValidationError("--get cannot be combined with --json, --template or --decoders")
    }
    if template != nil, json || decoders {
      throw ValidationError("--template cannot be combined with --json or --decoders")
    }
    guard decoders else {
      if hardwareDevice != nil { throw ValidationError("--hardware-device needs --decoders") }
      if files.isEmpty { throw ValidationError("Missing expected argument '<files> ...'") }
      return
    }
    if !files.isEmpty || count { throw ValidationError("--decoders takes neither files nor --count") }
  }

  func run() async throws {
    if decoders { return try listDecoders() }
    var documents = JSONText(isIndented: true)
    documents.open(UInt8(ascii: "["))
    var failures: [Failure] = []
    var hasPrinted = false
    for name in files {
      do throws(Failure) {
        let input = try InputFile(name)
        let place = ProgressPlace(of: input)
        let info = try await Progress.during(place) { () throws(Failure) in
          try MediaInfo.read(input, counting: count, place)
        }
        if let get {
          for value in try info.values(get) { print(Terminal.printable(value)) }
        } else if let template {
          print(Terminal.printable(try template.text(info)))
        } else if json {
          info.write(to: &documents)
        } else {
          print(hasPrinted ? "\n\(info.table)" : info.table)
          hasPrinted = true
        }
      } catch {
        failures.append(error)
      }
    }
    documents.close(UInt8(ascii: "]"))
    if json { print(String(decoding: documents.bytes, as: UTF8.self)) }
    for failure in failures.dropLast() { Terminal.say(failure.message) }
    if let last = failures.last { throw last }
  }

  private func listDecoders() throws(Failure) {
    let list = DecoderList(device: hardwareDevice)
    // A named device must exist. Without a name, having no device is a valid answer.
    if hardwareDevice != nil, let failure = list.failures.first { throw Failure(failure) }
    print(json ? list.json : list.tables)
    for failure in list.failures { Terminal.say(failure) }
  }
}
