// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import H26x
import StreamReport
import SystemPackage

/// `h26x extract`: writes the metadata of pictures into files of their own.
struct ExtractCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "extract", abstract: "Extracts captions, HDR10+ and Dolby Vision, in the order of presentation.",
    discussion: """
      Captions become MCC (MacCaption), with everything of CTA-608 and CTA-708; SCC (Scenarist), with a field of \
      CTA-608 at 29.97 frames a second; or SRT, with the text of CTA-608 and the times of the file. OUT's suffix \
      selects the format, and --captions may be repeated. Time codes begin with 00:00:00:00. edit --insert-captions \
      puts MCC and SCC into a stream again.

      HDR10+ becomes JSON as hdr10plus_tool and x265 read it, or, into a file named .jsonl, an object a line, which \
      holds all syntax elements. Dolby Vision's RPUs are written as dovi_tool does, without a bit changed. edit \
      --insert-hdr10plus and --insert-dolby-vision put them into a stream again. A picture without a message repeats \
      that of the picture before. The command stops at a damaged message, unless --force is given.

      Examples:
        h26x extract clip.mp4 --captions clip.mcc --captions clip.srt
        h26x extract film.mkv --hdr10plus film.json
        h26x extract film.mp4 --dolby-vision film.bin
        h26x edit encoded.h265 -o film.mp4 --insert-hdr10plus film.json --insert-dolby-vision film.bin
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    help: ArgumentHelp("Write captions into this file; may be repeated.", valueName: "out.mcc|.scc|.srt"),
    completion: .file(), transform: FilePath.init(argument:))
  var captions: [FilePath] = []
  @Option(
    name: .customLong("hdr10plus"),
    help: ArgumentHelp("Write HDR10+ into this file; - is standard output.", valueName: "out.json|.jsonl"),
    completion: .file(), transform: FilePath.init(argument:))
  var hdr10Plus: FilePath?
  @Option(
    help: ArgumentHelp("Write Dolby Vision's RPUs into this file; - is standard output.", valueName: "out.bin"),
    completion: .file(), transform: FilePath.init(argument:))
  var dolbyVision: FilePath?
  @Flag(help: "Replace existing files, and go on after damaged messages.") var force = false
  @OptionGroup var progress: ProgressOptions

  private var outputs: [FilePath] { captions + [hdr10Plus, dolbyVision].compactMap(\.self) }

  func validate() throws {
    guard !outputs.isEmpty else {
      throw ValidationError("expected --captions OUT, --hdr10plus OUT or --dolby-vision OUT")
    }
    guard Set(outputs).count == outputs.count else { throw ValidationError("each output needs a file of its own") }
    for path in captions where CaptionFormat(fileName: path.string) == nil {
      throw ValidationError("--captions \(path) has no known suffix: expected .mcc, .scc or .srt")
    }
  }

  func run() async throws {
    let input = try InputFile(file)
    let hdr10Plus = try hdr10Plus.map { path throws(Failure) in try output(path, isText: true, input) }
    let dolbyVision = try dolbyVision.map { path throws(Failure) in try output(path, isText: false, input) }
    var captions: [Output] = []
    for path in self.captions { captions.append(try output(path, isText: true, input)) }
    let outputs = captions + [hdr10Plus, dolbyVision].compactMap(\.self)
    do throws(Failure) {
      var extraction = MetadataExtraction(source: input.name)
      if !captions.isEmpty { extraction.captions = CaptionCollection(source: input.name, skipsDamaged: force) }
      if let path = self.hdr10Plus {
        extraction.hdr10Plus = HDR10PlusExtraction(
          HDR10PlusFile(fileName: path.lastComponentBytes), isForced: force)
      }
      if let dolbyVision {
        extraction.dolbyVision = DolbyVisionExtraction(try dolbyVision.writer(), isForced: force)
      }
      extraction = try await input.reading(extraction)
      if let hdr10Plus {
        var writer = try hdr10Plus.writer()
        extraction.hdr10Plus?.write(to: &writer)
        try writer.finish()
      }
      var remarks: [String] = []
      if let found = extraction.captions {
        let file = try CaptionOutput(found)
        for output in captions {
          guard let format = CaptionFormat(fileName: output.name) else { continue }
          var writer = try output.writer()
          remarks += try file.write(format) { writer.write($0) }.map { "\(output.name): \($0)" }
          try writer.finish()
        }
      }
      for output in outputs { try output.file?.commit() }
      if input.isCutOff { Terminal.say("\(input.name): it is cut off; metadata is extracted up to there") }
      for remark in remarks { Terminal.say(remark) }
      if let hdr10Plus, let remark = extraction.hdr10Plus?.remark { Terminal.say("\(hdr10Plus.name): \(remark)") }
      if let dolbyVision, let remark = extraction.dolbyVision?.remark {
        Terminal.say("\(dolbyVision.name): \(remark)")
      }
    } catch {
      for output in outputs { output.file?.discard() }
      throw error
    }
  }

  /// An output file, or standard output for text, which may be a terminal.
  private struct Output {
    let name: String
    /// `nil` for text on standard output.
    let file: OutputFile?

    func writer() throws(Failure) -> ResultWriter {
      if let file { try ResultWriter(file) } else { ResultWriter() }
    }
  }

  private func output(_ path: FilePath, isText: Bool, _ input: InputFile) throws(Failure) -> Output {
    guard path != "-" || !isText else { return Output(name: "standard output", file: nil) }
    let file = try OutputFile(path, force: force, inputs: [input])
    return Output(name: file.name, file: file)
  }
}
