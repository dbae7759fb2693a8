// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct InspectTests {
  @Test(.enabled(if: PluginUnderTest.isShipped, "make test-all"))
  func buildsOnlyThePluginAndTheCodecService() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: PluginUnderTest.folder.path)
    #expect(names.sorted() == ["h26x-codec", "libgstswifth26x.so"])
  }

  /// A program in a folder of GST_PLUGIN_PATH is no plugin, and no broken one either.
  @Test func keepsTheCodecServiceOffTheBlacklist() async throws {
    let listed = try await Command.run(["gst-inspect-1.0", "--print-blacklist"])
    #expect(listed.status == 0, "\(listed)")
    #expect(!listed.output.contains("h26x"), "\(listed)")
  }

  @Test func givesTheCodecServiceThePluginsVersion() async throws {
    let plugin = try await Command.run(["gst-inspect-1.0", "swifth26x"])
    let service = try await Command.run([PluginUnderTest.service.path, "--version"])
    let version = try #require(plugin.output.firstMatch(of: /Version +(\S+)/)).1
    #expect(service.output.contains("\(version)"), "\(service)")
  }

  @Test func describesThePlugin() async throws {
    let inspected = try await Command.run(["gst-inspect-1.0", "swifth26x"])
    #expect(inspected.status == 0, "\(inspected)")
    #expect(inspected.output.contains(/License +MPL\n/))
    for element in [
      "swifth264parse", "swifth264repack", "swifth264dec", "swifth265parse", "swifth265repack", "swifth265dec",
    ] {
      #expect(inspected.output.contains(element))
    }
    #expect(!inspected.output.contains("WARN"))
  }

  @Test(arguments: [
    ("swifth264parse", "Codec/Parser/Converter/Video", "GstBaseParse"),
    ("swifth264repack", "Codec/Converter/Video", "GstBaseTransform"),
    ("swifth264dec", "Codec/Decoder/Video", "GstVideoDecoder"),
    ("swifth265dec", "Codec/Decoder/Video", "GstVideoDecoder"),
    ("swifth265parse", "Codec/Parser/Converter/Video", "GstBaseParse"),
    ("swifth265repack", "Codec/Converter/Video", "GstBaseTransform"),
  ])
  func describesEachElement(name: String, klass: String, baseClass: String) async throws {
    let inspected = try await Command.run(["gst-inspect-1.0", name])
    #expect(inspected.status == 0, "\(inspected)")
    #expect(inspected.output.contains("marginal (64)"))
    #expect(inspected.output.contains(klass))
    #expect(inspected.output.contains(baseClass))
    #expect(inspected.output.contains(name.contains("h265") ? "video/x-h265" : "video/x-h264"))
    #expect(!inspected.output.contains("CRITICAL"))
  }

  @Test(
    arguments: [
      ("swifth264parse", "H.264 parser (Swift)"), ("swifth264repack", "H.264 repackager (Swift)"),
      ("swifth264dec", "H.264 decoder (Swift)"), ("swifth265dec", "H.265 decoder (Swift)"),
      ("swifth265parse", "H.265 parser (Swift)"), ("swifth265repack", "H.265 repackager (Swift)"),
    ])
  func namesElementsAlike(element: String, name: String) async throws {
    let inspected = try await Command.run(["gst-inspect-1.0", element])
    #expect(inspected.output.split(separator: "\n").contains { $0.contains("Long-name") && $0.hasSuffix(name) })
    #expect(
      inspected.output.split(separator: "\n").contains {
        $0.contains("Author") && $0.hasSuffix("The gst-swift-h26x authors")
      })
  }

  /// A line of an element's description can be pasted.
  @Test(arguments: [
    ("swifth264parse", "h264"), ("swifth264repack", "h264"), ("swifth264dec", "h264"), ("swifth265parse", "h265"),
    ("swifth265repack", "h265"), ("swifth265dec", "h265"),
  ])
  func describesElementsWithAWorkingLine(element: String, codec: String) async throws {
    let inspected = try await Command.run(["gst-inspect-1.0", element])
    let line = try #require(inspected.output.firstMatch(of: /Description .*: (gst-launch-1\.0 .*)/)).1
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = codec == "h264" ? "clip.mp4" : "clip-h265.mp4"
    for (source, name) in [("clip.\(codec)", "clip.\(codec)"), (file, "clip.mp4")] {
      try FileManager.default.copyItem(
        at: PluginUnderTest.media.appending(path: source), to: folder.appending(path: name))
    }
    let words = line.replacing("autovideosink", with: "fakesink").split(separator: " ").map { String($0) }
    #expect(words.contains(element))
    let run = try await Command.run(words, directory: folder)
    #expect(run.status == 0, "\(run)")
  }

  /// Most of it is the Swift runtime.
  @Test(
    .enabled(if: PluginUnderTest.isShipped, "make test-all"),
    arguments: [(PluginUnderTest.library, 11_000_000), (PluginUnderTest.service, 9_500_000)])
  func staysBelowItsSizeLimit(file: URL, limit: Int) throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(try #require(attributes[.size] as? Int) <= limit)
  }

  /// Neither needs a shared library of Swift, which a program or another plugin may have in another version. The codec
  /// service needs nothing of GStreamer either.
  @Test(
    .enabled(if: PluginUnderTest.isShipped, "make test-all"),
    arguments: [
      (PluginUnderTest.library, ["libswift"]), (PluginUnderTest.service, ["libswift", "libgst", "libglib"]),
    ])
  func needsNoUnwantedLibraries(file: URL, unwanted: [String]) async throws {
    let dependencies = try await Command.run(["ldd", file.path])
    #expect(dependencies.status == 0, "\(dependencies)")
    for name in unwanted + ["not found"] { #expect(!dependencies.output.contains(name)) }
  }
}
