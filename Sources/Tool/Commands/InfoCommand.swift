// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer

/// `h26x info`: what a file holds.
struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "What a file holds: container, format, duration, frame rate, bitrate, rotation.",
    discussion: """
      Reads no more than it needs to; --count reads it all, which counts pictures and groups and makes duration and \
      bitrate exact.

      Examples:
        h26x info clip.mp4
        h26x info --json --count *.h264
      """)

  @Argument(help: "The files; - is standard input.", completion: .file()) var files: [String]
  @Flag(help: "Read it all, and count pictures and groups.") var count = false
  @Flag(help: "Print an array of objects, one a file.") var json = false

  func run() async throws {
    var documents: [String] = []
    var failures: [Failure] = []
    var hasPrinted = false
    for name in files {
      do throws(Failure) {
        let info = try await MediaInfo.read(InputFile(name), counting: count)
        if json {
          documents.append(info.document.text(indent: 2))
        } else {
          print(hasPrinted ? "\n\(info.table)" : info.table)
          hasPrinted = true
        }
      } catch {
        failures.append(error)
      }
    }
    if json { print(documents.isEmpty ? "[]" : "[\n  \(documents.joined(separator: ",\n  "))\n]") }
    for failure in failures.dropLast() { Terminal.say(failure.message) }
    if let last = failures.last { throw last }
  }
}
