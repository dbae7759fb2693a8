// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import StreamReport
import SystemPackage

/// `h26x report`: writes the report page of a stream.
struct ReportCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Makes one HTML page: findings, charts, access units, syntax, parameter sets.",
    discussion: """
      The page needs nothing but a browser: no network, no other file. It shows up to 48 keyframes as small pictures, \
      except for a byte stream from a pipe. With --deep it charts QP, bits by kind and block types of each picture.

      Examples:
        h26x report clip.mp4 -o clip.html
        h26x report --deep clip.mp4 -o clip.html
      """)

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Option(
    name: .shortAndLong, help: ArgumentHelp("The HTML file; - is standard output.", valueName: "out"),
    completion: .file(), transform: FilePath.init(argument:))
  var output: FilePath
  @Flag(help: "Read slices to their last bit, to find damage inside pictures and to chart QP, bits and block types.")
  var deep = false
  @Flag(help: "Replace an existing file.") var force = false

  /// How many of its first bytes the page shows of each NAL unit.
  private static let byteCount = 64
  @OptionGroup var sliceThreads: SliceThreadOptions
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var progress: ProgressOptions

  func run() async throws {
    let input = try InputFile(file)
    var options = ReportOptions()
    (options.includesFields, options.byteCount) = (true, Self.byteCount)
    options.readsSliceData = deep
    options.sliceThreads = sliceThreads.sliceThreads
    if deep { options.countedAccessUnits = 0...UInt64.max }
    var items = try await ReportItems(input, options)
    let target = try OutputFile(output, force: force, inputs: [input])
    try await target.written { () async throws(Failure) in
      var writer = try ResultWriter(target)
      let page = ReportPage(name: input.isStandardInput ? input.name : file.lastComponent?.string ?? input.name)
      writer.write(page.head)
      var document = ReportDocument()
      var thumbnails = Thumbnails()
      try await Progress.during(items.place) { () async throws(Failure) in
        while let item = try await items.next() {
          thumbnails.note(item, of: items)
          document.append(item)
          if document.bytes.count > 1 << 16 { writer.write(document.take()) }
        }
      }
      writer.write(document.take())
      for picture in await Self.pictures(thumbnails, of: input) { writer.write(picture.line) }
      writer.write(page.tail)
      try writer.finish()
    }
  }

  /// The pictures, or none and a message: a report without them is still complete.
  private static func pictures(_ thumbnails: Thumbnails, of input: InputFile) async -> [Thumbnails.Picture] {
    do throws(Failure) { return try await thumbnails.pictures(of: input) } catch {
      Terminal.say("no pictures of keyframes: \(error.message)")
      return []
    }
  }
}
