// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Foundation
import Testing

/// What a decoder cannot do without is not there: the error names it.
@Suite(.serialized, .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
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

  /// Limits of file sizes in units of 512 bytes, from one at which no memory can be shared to one at which all can.
  @Test(arguments: ["h264", "h265"]) func namesALimitOfFileSizes(_ codec: String) async throws {
    _ = try await Command.run(["gst-inspect-1.0", "swifth264dec"])
    let clip = PluginUnderTest.media.appending(path: "clip.\(codec)").path
    for limit in [0, 100, 200, 255, 256, 1000, 100_000] {
      // The output goes through a pipe, so that the limit does not apply to it.
      let run = try await Command.run([
        "sh", "-c",
        "{ (ulimit -f \(limit); gst-launch-1.0 -m filesrc location='\(clip)' ! swift\(codec)parse "
          + "! swift\(codec)dec isolation=process ! fakesink); echo ended with $?; } 2>&1 | cat",
      ])
      #expect("\(run)".contains("ended with 0") || "\(run)".contains("ended with 1"), "\(limit): \(run)")
      let isNamed = run.busError?.contains("ulimit -f") ?? true
      #expect(isNamed, "\(limit): \(run)")
    }
  }

  /// From a limit at which nothing opens to one at which it decodes.
  @Test func namesAShortageOfDescriptors() async throws {
    _ = try await Command.run(["gst-inspect-1.0", "swifth264dec"])
    var causes: Set<String> = []
    for limit in 13...40 {
      let run = try await Command.run(["bash", "-c", "ulimit -n \(limit); exec \(Self.decode("isolation=process"))"])
      #expect(!"\(run)".contains("out of memory"), "\(limit): \(run)")
      guard let error = run.busError else {
        // A picture that is missing would be a warning.
        if run.status == 0, !"\(run)".contains("GstMessageWarning") { causes.insert("none") }
        continue
      }
      // Before the decoder is reached, other elements fail.
      guard error.contains("swifth264dec") else { continue }
      causes.insert("descriptors")
      #expect(error.contains("descriptor"), "\(limit): \(error)")
    }
    #expect(causes == ["none", "descriptors"])
  }

  /// Descriptors that any process of the user has sent, and nobody has received, count against each process's limit.
  @Test(arguments: [false, true]) func waitsForDescriptorsThatAreOnTheirWay(areReceived: Bool) async throws {
    let sockets = try DescriptorPair.sockets()
    let sender = LinkSocket(owning: sockets.first)
    let receiver = LinkSocket(owning: sockets.second)
    let byte: [UInt8] = [1]
    for _ in 0..<40 { try sender.send(byte.span, descriptors: [STDIN_FILENO]) }
    async let run = Command.run(["bash", "-c", "ulimit -n 30; exec \(Self.decode("isolation=process"))"])
    var message = LinkMessage(descriptorCount: 1)
    if areReceived {
      // After the service was started, most of the time.
      try await Task.sleep(for: .milliseconds(300))
      for _ in 0..<40 { try receiver.receive(into: &message) }
    }
    let ended = try await run
    if !areReceived {
      // They were on their way until now.
      for _ in 0..<40 { try receiver.receive(into: &message) }
    }
    #expect((ended.busError == nil) == areReceived, "\(ended)")
    #expect(areReceived || ended.busError?.contains("descriptors") == true, "\(ended)")
  }
}
