// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import StreamReport
import SystemPackage

/// `h26x info`: prints container, format, duration, frame rate, bitrate and rotation.
struct InfoCommand: AsyncParsableCommand, ShowsProgress {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Prints container, format, duration, frame rate, bitrate and rotation of files.",
    discussion: """
      Reads no more of a file than it needs. --count reads all of it: it counts pictures and groups of pictures, and \
      duration and bitrate are exact.

      Examples:
        h26x info clip.mp4
        h26x info --json --count *.h264
      """)

  @Argument(help: "The files; - is standard input.", completion: .file(), transform: FilePath.init(argument:))
  var files: [FilePath]
  @Flag(help: "Read whole files, and count pictures and groups of pictures.") var count = false
  @Flag(help: "Print a JSON array with an object for each file.") var json = false
  @OptionGroup var progress: ProgressOptions

  func run() async throws {
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
        if json {
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
}
