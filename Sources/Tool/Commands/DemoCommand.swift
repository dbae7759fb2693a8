// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x
import Synchronization
import SystemPackage

/// `h26x demo`: decodes a file through all three elements, and compares with a reference.
struct DemoCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Decodes a file through parser, repackager and decoder, and compares with a reference.",
    discussion: """
      Prints the file's format, the decoding time, and the MD5 of the pictures beside a reference: the sum given \
      with --md5, or that of the pictures from avdec_h264 or avdec_h265. Writes a contact sheet to the file given \
      with --sheet, or to NAME.contact-sheet.png in the current folder, replacing the sheet of an earlier run.

      Example:
        h26x demo clip.mp4
      """)

  @Argument(help: "The file.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(help: ArgumentHelp("The MD5 that the pictures should have.", valueName: "sum")) var md5: String?
  @Option(
    help: ArgumentHelp("The file for the sheet of pictures: .png or .jpg.", valueName: "out"), completion: .file(),
    transform: FilePath.init(argument:))
  var sheet: FilePath?
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if file == "-" { throw ValidationError("the demo reads its file more than once: standard input cannot be used") }
    if let sheet, StillPictureFormat(fileName: sheet.string) == nil {
      throw ValidationError("--sheet needs a .png or .jpg name")
    }
  }

  func run() async throws {
    try PluginFile.load()
    let input = try InputFile(file)
    let name = sheet ?? Self.sheetName(file)
    let output = try OutputFile(name, force: force || sheet == nil, inputs: [input])
    let ours = try await output.written { () async throws(Failure) in
      print(try MediaInfo.read(input, counting: false, ProgressPlace(of: input)).table)
      let started = ContinuousClock.now
      let ours = try await checksum(input) { codec in
        ["swifth\(codec.digits)repack", "swifth\(codec.digits)dec"]
      }
      let seconds = started.duration(to: .now) / .seconds(1)
      print("Pictures            \(ours.pictures) in \(Text.fixed(seconds, 2)) s")
      let picture = try await ContactSheet.make(of: input, columns: 4, rows: 3)
      try await StillPictureFormat(fileName: name.string)?.write(picture, to: output)
      return ours
    }
    print("Contact sheet       \(Terminal.printable(name.string))")
    print("MD5 of the pictures \(ours.sum)")
    let reference: (sum: String, by: String)
    if let md5 {
      reference = (md5.lowercased(), "given with --md5")
    } else if Runtime.hasElement(ours.reference) {
      reference = (try await checksum(input) { ["avdec_h\($0.digits)"] }.sum, "made by \(ours.reference)")
    } else {
      return print("Reference           none: GStreamer has no \(ours.reference) here")
    }
    guard reference.sum == ours.sum else {
      throw Failure("the reference \(reference.by) is \(reference.sum): different", .unsoundStream)
    }
    print("Reference           \(reference.sum) (\(reference.by)): the same")
  }

  /// In the current folder.
  private static func sheetName(_ file: FilePath) -> FilePath {
    let sheet = file.renamed { name in
      name = Array(name[..<(name.lastIndex(of: UInt8(ascii: ".")) ?? name.count)]) + ".contact-sheet.png".utf8
    }
    return FilePath().appending(sheet.components.suffix(1))
  }

  /// Decodes with a chain of elements.
  ///
  /// - Returns: the MD5 of all pictures, cropped and without padding, their number, and the name of the decoder to
  ///   compare with.
  private func checksum(
    _ input: InputFile, _ chain: @escaping @Sendable (FormatDescription.Codec) -> [String]
  ) async throws(Failure) -> (sum: String, pictures: Int, reference: String) {
    let codec = Mutex(FormatDescription.Codec.h264)
    let reader = try input.pictureSource { found throws(PipelineError) in
      codec.withLock { $0 = found }
      var elements: [PipelineElement] = []
      for kind in chain(found) + ["videocodectestsink"] {
        elements.append(try PipelineElement(kind, name: kind.hasSuffix("dec") ? "decoder" : nil))
        guard kind.hasSuffix("repack") else { continue }
        // Length-prefixed output, so that the repackager has to repackage byte streams.
        let caps =
          "\(found.mediaType), stream-format=(string)\(found.syntax.outOfBandStreamFormat), alignment=(string)au"
        elements.append(try PipelineElement("capsfilter", ["caps": .string(caps)]))
      }
      return elements
    }
    var found: String?
    do throws(Failure) { try await reader.begin() } catch {
      await reader.pipeline.stop()
      throw error
    }
    do throws(PipelineError) {
      var messages = reader.pipeline.messages.makeAsyncIterator()
      try await reader.pipeline.play()
      try await Progress.during(reader.place) { () async throws(PipelineError) in
        while let message = try await messages.next() {
          guard case .element(let fields) = message.content, fields.name == "conformance/checksum",
            let sum = fields["checksum"]?.string
          else { continue }
          found = sum
        }
      }
    } catch {
      let failure = reader.failure(error)
      await reader.pipeline.stop()
      throw failure
    }
    let pictures = (try? reader.pipeline.element("decoder").fields("stats"))??["frames-out"]?.integer
    await reader.pipeline.stop()
    guard let found else { throw Failure("\(input.name): no picture could be decoded") }
    return (found, pictures ?? 0, "avdec_h\(codec.withLock { $0.digits })")
  }
}
