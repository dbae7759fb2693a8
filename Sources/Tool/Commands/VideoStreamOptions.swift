// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers

/// The options that choose the video of a container that has several.
struct VideoStreamOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Number of the video stream to read, as printed by info.", valueName: "n")) var stream:
    Int?
  @Option(help: ArgumentHelp("Number of the MPEG-TS program to read.", valueName: "n")) var program: Int?

  func validate() throws {
    if let stream, stream < 0 { throw ValidationError("--stream counts from 0, and cannot be \(stream)") }
  }

  /// The streams that the options select.
  var selection: StreamSelection { StreamSelection(streams: stream.map { [$0] }, program: program) }
}
