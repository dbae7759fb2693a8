// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// What a decoder cannot do without is not there: the error names it.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct ShortageTests {
  private static func decode(_ properties: String) -> String {
    let clip = PluginUnderTest.media.appending(path: "clip.h264").path
    return "gst-launch-1.0 -m filesrc location='\(clip)' ! swifth264parse ! swifth264dec \(properties) ! fakesink"
  }

  /// A library of libavcodec's name that is none, in front of the system's.
  @Test(arguments: ["isolation=none", "isolation=process"]) func namesALibraryThatCannotBeLoaded(
    properties: String
  ) async throws {
    let scratch = try Scratch()
    for major in 58...70 { _ = try scratch.file("libavcodec.so.\(major)", Data("no library".utf8)) }
    let run = try await Command.run(
      ["bash", "-c", Self.decode(properties)], environment: ["LD_LIBRARY_PATH": scratch.path("")])
    #expect(run.status == 1 && run.busError?.contains("libavcodec cannot be loaded: ") == true, "\(run)")
    #expect(run.busError?.contains("libavcodec.so.") == true, "\(run)")
  }

  /// From a limit at which nothing opens to one at which it decodes.
  @Test func namesAShortageOfDescriptors() async throws {
    _ = try await Command.run(["gst-inspect-1.0", "swifth264dec"])
    var causes: Set<String> = []
    for limit in 13...40 {
      let run = try await Command.run(["bash", "-c", "ulimit -n \(limit); exec \(Self.decode("isolation=process"))"])
      #expect(!"\(run)".contains("out of memory"), "\(limit): \(run)")
      guard let error = run.busError else {
        if run.status == 0 { causes.insert("none") }
        continue
      }
      // Before the decoder is reached, other elements fail.
      guard error.contains("swifth264dec") else { continue }
      causes.insert("descriptors")
      #expect(error.contains("descriptor"), "\(limit): \(error)")
    }
    #expect(causes == ["none", "descriptors"])
  }
}
