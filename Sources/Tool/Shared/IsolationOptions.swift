// SPDX-License-Identifier: MPL-2.0
import ArgumentParser

/// Options of all subcommands that decode: the process and the device that decode pictures.
struct IsolationOptions: ParsableArguments {
  /// Whether a device decodes.
  enum Hardware: String, CaseIterable, ExpressibleByArgument { case off, auto, required }

  @Flag(
    help: ArgumentHelp(
      "Decode in this process instead of in a sandboxed child process."))
  var noIsolation = false
  @Option(
    help: ArgumentHelp(
      "off, auto (a GPU if it can decode the stream, otherwise software) or required. A GPU's driver runs in the "
        + "child process, in a weaker sandbox."))
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
