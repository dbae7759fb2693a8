// SPDX-License-Identifier: MPL-2.0
import Foundation

/// The built plugin, and the environment in which programs find it.
enum PluginUnderTest {
  static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The folder of plugin and codec service: `PLUGIN_FOLDER`, or the one that `make plugin` fills.
  static let folder = given.map { URL(filePath: $0) } ?? packageRoot.appending(path: ".build/plugin")
  private static let given = ProcessInfo.processInfo.environment["PLUGIN_FOLDER"]
  /// Whether it is what users install, rather than a build for tests.
  static let isShipped = given == nil
  static let library = folder.appending(path: "libgstswifth26x.so")
  static let service = folder.appending(path: "h26x-codec")
  static let isBuilt = FileManager.default.fileExists(atPath: library.path)

  /// The project's own clips; see make-media.sh there.
  static let media = packageRoot.appending(path: "Tests/Media")

  /// The tests' environment with this plugin first on GStreamer's path, and a registry file of its own.
  static let environment = ProcessInfo.processInfo.environment.merging([
    "GST_PLUGIN_PATH": folder.path,
    "GST_REGISTRY": packageRoot.appending(path: ".build/pipeline-tests-registry.bin").path,
    "LC_ALL": "C",
  ]) { $1 }

  static let missing = "no .build/plugin/libgstswifth26x.so; run 'make plugin' first, or 'make test' for all of it"
}
