// SPDX-License-Identifier: MPL-2.0
import ArgumentParser

/// Where pictures are decoded: an option of all subcommands that decode.
struct IsolationOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Decode in this process rather than in one of its own behind a sandbox, which a stream cannot leave."))
  var noIsolation = false
}

/// A subcommand that decodes.
protocol DecodesPictures: ParsableCommand {
  /// Where it decodes.
  var isolation: IsolationOptions { get }
}
