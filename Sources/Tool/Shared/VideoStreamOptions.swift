// SPDX-License-Identifier: MPL-2.0
import ArgumentParser

/// The options that choose the video of a container that has several.
struct VideoStreamOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The video to read, by its number, which info prints.", valueName: "n")) var stream: Int?
  @Option(help: ArgumentHelp("The MPEG-TS program to read, by its number.", valueName: "n")) var program: Int?

  func validate() throws {
    if let stream, stream < 0 { throw ValidationError("--stream counts from 0, and cannot be \(stream)") }
  }

  /// The streams that the options select.
  var selection: StreamSelection { StreamSelection(streams: stream.map { [$0] }, program: program) }
}
