// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Containers
import GStreamer
import H26x
import Synchronization
import VideoDecoding

/// The plugin's decoders, which decode in processes of their own for this program.
enum PluginDecoder {
  /// The options of all decoders that are made later.
  private static let options = Mutex(IsolationOptions.defaults)

  /// Sets the options of all decoders that are made later to a subcommand's.
  static func configure(_ options: IsolationOptions) { self.options.withLock { $0 = options.values } }

  /// Makes a decoder.
  static func make(_ codec: FormatDescription.Codec, name: String? = nil) throws(PipelineError) -> PipelineElement {
    let decoder = try PipelineElement("swifth\(codec.digits)dec", name: name)
    let options = options.withLock { $0 }
    // Always: the environment may have another default.
    try decoder.set("isolation", options.isIsolated ? "process" : "none")
    try decoder.set("hardware", .string(options.hardware.rawValue))
    if let device = options.device { try decoder.set("hardware-device", .string(device)) }
    return decoder
  }

  /// The protection of this program from a stream that takes the codec over, a line each.
  static var protection: [String] {
    do throws(ServiceError) {
      let process = try CodecStarter.begin(limits: ProcessLimits(memory: 1 << 30))
      var lines = ["Decodes in  \(try CodecServiceLocation.find().text)", "Protection  \(process.protection)"]
      if !process.missingProtection.isEmpty {
        lines.append("Missing     \(process.missingProtection)")
      }
      return lines
    } catch {
      return ["Cannot decode in a separate process: \(error)"]
    }
  }
}
