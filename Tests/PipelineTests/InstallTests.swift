// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)),
  .enabled(if: PluginUnderTest.isShipped, "make test-all"))
struct InstallTests {
  private static let script = PluginUnderTest.packageRoot.appending(path: "plugin/install.sh").path

  /// The plugin looks for its codec service in libexec below the prefix that it is installed in.
  @Test func installsAndRemovesThePlugin() async throws {
    let scratch = try Scratch()
    let prefix = scratch.folder.appending(path: "prefix")
    let environment = ["PREFIX": prefix.path]
    let service = prefix.appending(path: "libexec/gst-swift-h26x/h26x-codec")

    let installed = try await Command.run([Self.script, "install"], environment: environment)
    #expect(installed.status == 0, "\(installed)")
    #expect(try await Command.run([service.path, "--version"]).status == 0)
    let inspected = try await Command.run(
      ["gst-inspect-1.0", prefix.appending(path: "lib/gstreamer-1.0/libgstswifth26x.so").path])
    #expect(inspected.status == 0, "\(inspected)")

    let removed = try await Command.run([Self.script, "uninstall"], environment: environment)
    #expect(removed.status == 0, "\(removed)")
    let left = try FileManager.default.subpathsOfDirectory(atPath: prefix.path).filter { $0.contains("h26x") }
    #expect(left.isEmpty)
  }
}
