// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import SystemPackage

/// `h26x compare`: compares the pictures of two files, or of two decoders.
struct CompareCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compares the pictures of two files, or of two decoders of one file.",
    discussion: """
      Prints the first picture that differs, and the PSNR (peak signal-to-noise ratio) of luma and chroma; inf means \
      equal. The exit status is 2 if something differs or a picture is damaged. A picture that differs from its hash \
      in the stream counts as damaged, even if both files show the same.

      Examples:
        h26x compare original.mp4 encoded.mp4
        h26x compare clip.h264 --decoder avdec_h264
      """)

  @Argument(help: "The first file.", completion: .file(), transform: FilePath.init(argument:))
  var first: FilePath
  @Argument(help: "The second file. Defaults to the first.", completion: .file(), transform: FilePath.init(argument:))
  var second: FilePath?
  @Option(help: ArgumentHelp("The GStreamer element that decodes the second file.", valueName: "element"))
  var decoder: String?
  @Flag(help: "Print a line for each picture.") var all = false
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var progress: ProgressOptions

  mutating func validate() throws {
    if second == nil, decoder == nil {
      throw ValidationError("expected a second FILE, or --decoder to decode the same file twice")
    }
    if first == "-", second == "-" || second == nil { throw ValidationError("standard input can be read only once") }
  }

  func run() async throws {
    try PluginFile.load()
    if let decoder, !Runtime.hasElement(decoder) {
      throw Failure("--decoder \(decoder): GStreamer has no such element", .usage)
    }
    let names = [first, second ?? first]
    let readers = [
      try DecodedPictureReader(InputFile(names[0]), DecodedPictureReader.Options(verifiesPictureHash: true)),
      try DecodedPictureReader(
        InputFile(names[1]), DecodedPictureReader.Options(decoder: decoder, verifiesPictureHash: true)),
    ]
    let result: Comparison
    do throws(Failure) {
      result = try await Progress.during(readers[0].reader.place) { () async throws(Failure) in
        try await compare(names, readers)
      }
    } catch {
      for reader in readers { await reader.stop() }
      throw error
    }
    let damage = readers.map(\.damage)
    for reader in readers { await reader.stop() }
    if let summary = result.summary { print(summary) }
    // Access units without a picture, such as those before the first random access point, change no comparison.
    let remarks = zip(names, damage).filter { $1.corrupted > 0 }.map { "\($0)\($1.remark)" }
    let findings = [result.failure?.message].compactMap(\.self) + remarks
    if !findings.isEmpty { throw Failure(findings.joined(separator: "; "), .unsoundStream) }
  }

  /// The outcome of a comparison.
  private struct Comparison {
    var summary: String?
    var failure: Failure?
  }

  private func compare(_ names: [FilePath], _ readers: [DecodedPictureReader]) async throws(Failure) -> Comparison {
    var one = try await readers[0].begin()
    var other = try await readers[1].begin()
    var (count, differing, firstDifference) = (0, 0, Int?.none)
    var total = PictureDifference()
    while true {
      let a = try await readers[0].next(&one)
      let b = try await readers[1].next(&other)
      guard let a, let b else {
        guard a == nil, b == nil else {
          let longer = a == nil ? names[1] : names[0]
          let first = firstDifference.map { "; picture \($0), counted from 0, is the first that differs" } ?? ""
          return Comparison(
            summary: count > 0 ? Self.summary(count, differing, total) : nil,
            failure: Failure(
              "\(longer) has more than the \(Text.count(count, "picture")) of the other\(first)", .unsoundStream))
        }
        break
      }
      let difference = try PictureDifference(a, b, number: count)
      if !difference.isNone {
        differing += 1
        if firstDifference == nil { firstDifference = count }
      }
      if all { Terminal.printResult("\(count)\t\(difference.summary)") }
      total.add(difference)
      count += 1
    }
    guard count > 0 else { throw Failure("\(names[0]): no picture could be decoded") }
    let failure = firstDifference.map {
      Failure("picture \($0), counted from 0, is the first that differs", .unsoundStream)
    }
    return Comparison(summary: Self.summary(count, differing, total), failure: failure)
  }
}

extension CompareCommand {
  fileprivate static func summary(_ count: Int, _ differing: Int, _ total: PictureDifference) -> String {
    "\(Text.count(count, "picture")), \(differing) of them different; PSNR \(total.summary)"
  }
}

extension DecodedPictureReader {
  /// Starts decoding. Both readers run concurrently, and their pictures are pulled alternately.
  fileprivate func begin() async throws(Failure) -> AppSink.Iterator {
    try await reader.preroll()
    do throws(PipelineError) {
      let samples = try reader.pipeline.appSink("pictures").makeAsyncIterator()
      try await reader.pipeline.play()
      return samples
    } catch { throw reader.failure(error) }
  }

  fileprivate func next(_ samples: inout AppSink.Iterator) async throws(Failure) -> Sample? {
    while true {
      do throws(PipelineError) {
        if let sample = try await samples.next() { return sample }
      } catch { throw reader.failure(error) }
      guard try await beginNextPart() else { return nil }
      samples = try await begin()
    }
  }
}
