// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers

/// The option of subcommands that may run for long.
struct ProgressOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How to show progress: auto (a line on a terminal), json (an object per second on standard error) or none.",
      valueName: "style"))
  var progress = Progress.Style.auto
}

extension Progress.Style: ExpressibleByArgument {}

/// A subcommand that may run for long.
protocol ShowsProgress: ParsableCommand {
  /// How it shows how far it has come.
  var progress: ProgressOptions { get }
}
