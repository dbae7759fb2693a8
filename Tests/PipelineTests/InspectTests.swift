// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct InspectTests {
  @Test func theFolderHoldsThePluginAndNothingElse() throws {
    #expect(try FileManager.default.contentsOfDirectory(atPath: PluginUnderTest.folder.path) == ["libgstswifth26x.so"])
  }

  @Test func pluginIsDescribed() async throws {
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
  func elementIsDescribed(name: String, klass: String, baseClass: String) async throws {
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
  func elementsAreNamedAlike(element: String, name: String) async throws {
    let inspected = try await Command.run(["gst-inspect-1.0", element])
    #expect(inspected.output.split(separator: "\n").contains { $0.contains("Long-name") && $0.hasSuffix(name) })
    #expect(
      inspected.output.split(separator: "\n").contains {
        $0.contains("Author") && $0.hasSuffix("The gst-swift-h26x authors")
      })
  }

  /// Most of it is the Swift runtime; see lean-runtime.sh.
  @Test func thePluginIsNoLargerThanItMustBe() throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: PluginUnderTest.library.path)
    #expect(try #require(attributes[.size] as? Int) <= 7_200_000)
  }

  /// The plugin needs no shared library of Swift, which a program or another plugin may have in another version.
  @Test func nothingIsNeededFromASwiftToolchain() async throws {
    let dependencies = try await Command.run(["ldd", PluginUnderTest.library.path])
    #expect(dependencies.status == 0, "\(dependencies)")
    #expect(!dependencies.output.contains("libswift"))
    #expect(!dependencies.output.contains("not found"))
  }
}
