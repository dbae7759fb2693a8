// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Glibc

/// The plugin whose elements the program uses: the one beside it, else the one in GStreamer's registry.
enum PluginFile {
  private static let name = "libgstswifth26x.so"

  /// Loads the plugin, and ranks its parsers so that `parsebin` chooses them instead of GStreamer's own.
  static func load() throws(Failure) {
    if let path = besideProgram {
      do { try Runtime.loadPlugin(at: path) } catch { throw Failure("\(path): \(error)") }
    } else if !Runtime.hasElement("swifth264parse") {
      throw Failure(
        "GStreamer does not know the plugin swifth26x: it is neither beside this program nor installed; "
          + "point GST_PLUGIN_PATH at the folder of \(name)")
    }
    for codec in ["264", "265"] where Runtime.hasElement("swifth\(codec)parse") {
      Runtime.setRank(of: "swifth\(codec)parse", to: Rank(rawValue: 1024))
      Runtime.setRank(of: "h\(codec)parse", to: .none)
    }
  }

  private static var besideProgram: String? {
    let program = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
      let length = unsafe readlink("/proc/self/exe", buffer.baseAddress!, buffer.count)
      guard length > 0, length < buffer.count else { return nil }
      return unsafe String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard let program, let end = program.lastIndex(of: "/") else { return nil }
    // The second is where `PREFIX=… make install` puts it.
    return ["", "../lib/gstreamer-1.0/"].lazy.map { program[...end] + $0 + name }
      .first { unsafe access($0, R_OK) == 0 }
  }
}
