// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Containers
import GStreamer
import H26x
import Synchronization
import SystemPackage
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

/// The plugin whose elements the program uses: the plugin beside it, else the plugin in GStreamer's registry.
enum PluginFile {
  private static let name = "libgstswifth26x.so"

  /// Loads the plugin, and ranks its parsers so that `parsebin` chooses them instead of GStreamer's own.
  static func load() throws(Failure) {
    if let path = besideProgram {
      do { try unsafe path.withPlatformString { try unsafe Runtime.loadPlugin(atBytes: $0) } } catch {
        throw Failure("\(path): \(error)")
      }
    } else if !Runtime.hasElement("swifth264parse") {
      throw Failure(
        "the plugin swifth26x was not found: it is neither beside this program nor installed; "
          + "point GST_PLUGIN_PATH at the folder of \(name)")
    }
    for codec in ["264", "265"] where Runtime.hasElement("swifth\(codec)parse") {
      Runtime.setRank(of: "swifth\(codec)parse", to: Rank(rawValue: 1024))
      Runtime.setRank(of: "h\(codec)parse", to: .none)
    }
  }

  private static var besideProgram: FilePath? {
    guard let folder = FilePath("/proc/self/exe").linkTarget?.removingLastComponent() else { return nil }
    // `PREFIX=… make install` installs to the second place.
    return [folder, folder.appending("../lib/gstreamer-1.0")].lazy.map { $0.appending(name) }.first { $0.isReadable }
  }
}
