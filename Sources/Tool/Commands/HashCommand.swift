// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import Synchronization
import SystemPackage

/// `h26x hash`: prints hashes of decoded pictures.
struct HashCommand: AsyncParsableCommand, DecodesPictures, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "hash", abstract: "Prints the MD5 or SHA-256 of the decoded pictures, of all together or of each.",
    discussion: """
      Hashes the bytes that decode writes as raw video: cropped, without padding. The sum is in the format of ffmpeg \
      -f md5 or -f hash. --each prints a line for each picture, in the format of ffmpeg -f framemd5 or -f framehash: \
      stream, decoding time, presentation time, duration, size and hash. Times are in ticks of one frame, or in \
      shorter ticks if frames differ in duration. They are in nanoseconds if there is no frame rate or if times are \
      rounded. They count from the beginning of the file, in byte streams and MPEG-TS from the first picture.

      Examples:
        h26x hash clip.mp4
        h26x hash --each --duration 10 clip.mkv > clip.framemd5
        diff <(h26x hash --each clip.mp4) \\
          <(ffmpeg -v error -i clip.mp4 -map 0:v:0 -vsync passthrough -fflags bitexact -f framemd5 -)
      """)

  /// How pictures are hashed.
  enum Algorithm: String, CaseIterable, ExpressibleByArgument {
    case md5, sha256

    /// The algorithm's name, which precedes the sum in the output.
    fileprivate var name: String { rawValue.uppercased() }
    fileprivate var checksum: Checksum.Algorithm { self == .md5 ? .md5 : .sha256 }
  }

  @Argument(help: "The file; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var file: FilePath
  @Flag(help: "Print a line for each picture.") var each = false
  @Option(help: "md5 or sha256.") var algorithm = Algorithm.md5
  @OptionGroup var decoding: DecodingOptions
  @OptionGroup var isolation: IsolationOptions
  @OptionGroup var video: VideoStreamOptions
  @OptionGroup var progress: ProgressOptions

  func run() async throws {
    try PluginFile.load()
    let input = try InputFile(file).selecting(video.selection)
    let pictures = try DecodedPictureReader(input, decoding.options())
    let clock = Mutex(PictureClock(input))
    // Hashed by the decoder's thread.
    let hashes = Mutex(PictureHash(algorithm.checksum, name: algorithm.name, each ? .each : .all, of: input))
    try await pictures.readAll { [each, limit = decoding.frames ?? .max] sample throws(Failure) in
      let time = clock.withLock { $0.time(of: sample) }
      guard let time = time ?? (each ? nil : 0) else { throw pictures.untimed }
      let (line, isMore) = try hashes.withLock { hashes throws(Failure) in
        (try hashes.add(sample, at: time, pixelAspect: pictures.reader.pixelAspect), hashes.pictures < limit)
      }
      if let line { Terminal.printResult(line) }
      return isMore
    }
    let (damage, remark) = (pictures.damage, pictures.reader.remark)
    await pictures.stop()
    let (sum, count, rest) = hashes.withLock { ($0.sum, $0.pictures, $0.finish()) }
    if let rest { Terminal.printResult(rest) }
    if !each || count == 0 { try Interruption.check() }
    guard count > 0 else { throw pictures.nothing(damage) }
    if !each { Terminal.printResult(sum) }
    if damage.isAny || !remark.isEmpty || Interruption.signal != nil {
      Terminal.say("\(input.name): \(Interruption.remark)\(Text.count(count, "picture"))\(remark)\(damage.remark)")
    }
    if decoding.strict, damage.isAny { throw Failure("\(input.name): damaged", .unsoundStream) }
  }
}
