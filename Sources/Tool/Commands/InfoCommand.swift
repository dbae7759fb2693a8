// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer

/// `h26x info`: what a file holds.
struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "info", abstract: "What a file holds.")

  @Argument(help: "The files; - is standard input.") var files: [String]

  func run() async throws {
    try PluginFile.load()
    for file in files { _ = try InputFile(file) }
  }
}
