// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Streams without data, and failures: each is reported once.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct EndOfStreamTests {
  static let chains = [
    "swifth264parse", "swifth264parse ! video/x-h264,alignment=nal", "swifth264parse ! swifth264repack",
    "swifth264parse ! swifth264dec", "swifth264repack", "swifth264dec",
  ]

  /// An encoder that is stopped before its first picture.
  @Test(arguments: ["264", "265"], chains)
  func acceptsAStreamWithoutBuffers(codec: String, chain: String) async throws {
    let run = try await Command.launch(
      "videotestsrc num-buffers=0 ! x\(codec)enc ! \(chain.replacing("264", with: codec)) ! fakesink")
    #expect(run.status == 0 && run.busError == nil, "\(run)")
  }

  /// A recording in parts, each of which begins with a keyframe and plays by itself.
  @Test(arguments: ["264", "265"]) func splitsRecordingsAtKeyframes(codec: String) async throws {
    let scratch = try Scratch()
    let clip = PluginUnderTest.media.appending(path: "clip.h\(codec)").path
    // splitmuxsink of 1.22 sometimes posts no EOS, with stock's parser too. All parts are closed by then, and waiting
    // longer changes nothing.
    let run = try await Command.run([
      "timeout", "60", "gst-launch-1.0", "-m", "filesrc", "location=\(clip)", "!", "swifth\(codec)parse", "!",
      "splitmuxsink", "location=\(scratch.path("part"))%05d.mp4", "max-size-time=1000000000",
    ])
    #expect(run.busError == nil && (run.status == 0 || run.timedOut), "\(run)")
    let parts = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
    #expect(parts.count == 3 && run.output.matches(of: /splitmuxsink-fragment-closed/).count == 3, "\(run)")
    var pictures = 0
    for part in parts {
      let played = try await Command.launch(
        "-v \(source(scratch.path(part), container: "mp4")) ! swifth\(codec)dec ! identity silent=false ! fakesink")
      #expect(played.status == 0 && !played.output.contains("corrupted"), "\(played)")
      pictures += played.output.matches(of: /last-message = chain/).count
    }
    #expect(pictures == 62)
  }

  /// A stream without a picture is one error message.
  @Test(
    arguments: ["start codes", "zeros", "text"],
    ["264", "265"].flatMap { ["swifth\($0)parse ! fakesink", "queue ! swifth\($0)parse ! fakesink"] })
  func postsOneMessageForAFailure(content: String, chain: String) async throws {
    let scratch = try Scratch()
    let bytes =
      switch content {
      case "start codes": Data((0..<4000).map { $0 % 4 == 3 ? 1 : 0 })
      case "zeros": Data(count: 100_000)
      default: Data(String(repeating: "This is not a video. ", count: 5000).utf8)
      }
    let file = try scratch.file("input.h264", bytes)
    let run = try await Command.launch("filesrc location=\(file) ! \(chain)")
    // gst-launch-1.0 prints each error so, whether it was in its loop by then or still changed states.
    let errors = run.output.matches(of: /ERROR: from element/).count
    #expect(errors == 1 && run.endedByItself, "\(run)")
  }
}
