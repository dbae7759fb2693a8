// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// GStreamer's leak tracer reports every object and mini-object that is alive at the program's end.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct LeakTests {
  static let chains = [
    "swifth264parse ! fakesink",
    "swifth264parse ! video/x-h264,stream-format=byte-stream,alignment=nal ! fakesink",
    "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! fakesink",
    "swifth264parse ! swifth264dec ! fakesink",
    "swifth264parse ! swifth264dec max-threads=1 ! fakesink",
    "swifth264parse ! swifth264dec ! video/x-raw,format=NV12 ! fakesink",
    "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc3 ! swifth264dec ! videoconvert ! fakesink",
  ]

  @Test(arguments: chains, ["h264", "mp4"])
  func freesEverythingWithThePipeline(chain: String, suffix: String) async throws {
    let clip = PluginUnderTest.media.appending(path: "clip.\(suffix)").path
    let run = try await traced("\(source(clip, container: suffix)) ! \(chain)")
    #expect(run.status == 0, "\(run)")
  }

  @Test(arguments: [
    "swifth265parse ! video/x-h265,alignment=nal ! fakesink",
    "swifth265parse ! swifth265repack cra-to-bla=true ! video/x-h265,stream-format=hev1 ! fakesink",
    "swifth265parse ! swifth265repack insert-captions=true caption-meta-order=display ! fakesink",
  ])
  func freesEverythingOfH265WithThePipeline(chain: String) async throws {
    for (clip, suffix) in [("clip.h265", ""), ("clip-h265.mp4", "mp4")] {
      let path = PluginUnderTest.media.appending(path: clip).path
      let run = try await traced("\(source(path, container: suffix)) ! \(chain)")
      #expect(run.status == 0, "\(run)")
    }
  }

  /// Failures: an error in the stream, and downstream that accepts nothing.
  @Test(arguments: [
    "swifth264parse ! swifth264dec ! fakesink", "swifth264parse ! swifth264repack ! fakesink",
    "swifth264parse ! swifth264dec ! video/x-raw,format=RGB16 ! fakesink",
  ])
  func freesEverythingAfterAFailure(chain: String) async throws {
    let scratch = try Scratch()
    var bytes = try Data(contentsOf: PluginUnderTest.media.appending(path: "clip.h264"))
    for position in stride(from: 5000, to: bytes.count, by: 97) { bytes[position] ^= 0x55 }
    let damaged = try scratch.file("damaged.h264", bytes)
    let run = try await traced("filesrc location=\(damaged) ! \(chain)")
    #expect(run.endedByItself, "\(run)")
  }

  /// Stops with the first objects alive, so that the message lists them.
  private func traced(_ pipeline: String) async throws -> Command {
    let run = try await Command.launch(
      pipeline,
      environment: ["GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"])
    // The tracer declares its records when it starts: without that line, nothing was watched.
    #expect(run.output.contains("object-alive.class"), "\(run)")
    let alive = run.output.split(separator: "\n").filter {
      $0.contains(" object-alive, type-name=(string)") && !$0.contains("%s")
    }
    #expect(alive.isEmpty, "\(alive.prefix(10).joined(separator: "\n"))")
    return run
  }
}
