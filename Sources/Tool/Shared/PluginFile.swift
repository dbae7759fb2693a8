// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import SystemPackage

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
