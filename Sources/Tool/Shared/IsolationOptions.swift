// SPDX-License-Identifier: MPL-2.0
import ArgumentParser

/// Options of all subcommands that decode: the process and the device that decode pictures.
struct IsolationOptions: ParsableArguments {
  /// Whether a device decodes.
  enum Hardware: String, CaseIterable, ExpressibleByArgument { case off, auto, required }

  @Flag(
    help: ArgumentHelp(
      "Decode in this process rather than in one of its own behind a sandbox, which a stream cannot leave."))
  var noIsolation = false
  @Option(
    help: ArgumentHelp(
      "off, auto (a GPU where it can, otherwise software) or required. A GPU's driver is in the other process, behind a "
        + "weaker sandbox."))
  var hardware = Hardware.off
  @Option(
    help: ArgumentHelp(
      "The GPU: a render node (/dev/dri/renderD128), an X display (:0) or a CUDA device number (0).",
      valueName: "device"))
  var hardwareDevice: String?

  /// The options without the parser's wrapping.
  struct Values: Sendable {
    var isIsolated = true
    var hardware = Hardware.off
    var device: String?
  }

  static let defaults = Values()
  var values: Values { Values(isIsolated: !noIsolation, hardware: hardware, device: hardwareDevice) }

  mutating func validate() throws {
    if hardwareDevice != nil, hardware == .off { throw ValidationError("--hardware-device needs --hardware") }
  }
}

/// A subcommand that decodes.
protocol DecodesPictures: ParsableCommand {
  /// The process and the device that decode.
  var isolation: IsolationOptions { get }
}
