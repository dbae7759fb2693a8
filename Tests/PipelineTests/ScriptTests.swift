// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The scripts of `pipelines/`, as a user calls them.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct ScriptTests {
  static let all = ["decode", "repack", "inspect", "snapshot", "play", "receive", "demo"]
  static let readers = ["decode", "inspect", "snapshot", "play --sink fakesink", "demo"]
  static let suffixes = ClipTests.suffixes

  private func clip(_ suffix: String) -> String { PluginUnderTest.media.appending(path: "clip.\(suffix)").path }

  /// Runs `pipelines/…` in the scratch folder.
  private func script(_ words: String, _ scratch: Scratch, seconds: Int = 60) async throws -> Command {
    var arguments = words.split(separator: " ").map(String.init)
    arguments[0] = PluginUnderTest.packageRoot.appending(path: "pipelines/\(arguments[0])").path
    return try await Command.run(arguments, directory: scratch.folder, seconds: seconds)
  }

  @Test(arguments: all) func explainsItself(name: String) async throws {
    let run = try await script("\(name) --help", Scratch())
    #expect(run.status == 0)
    #expect(run.output.contains("  \(name) ["), "\(run)")
    #expect(!run.output.contains("SPDX") && !run.output.contains("common.sh"), "\(run)")
  }

  @Test(arguments: readers, ["nothing.h264", "empty", "picture.h264", "text", "folder"])
  func refusesClearly(reader: String, input: String) async throws {
    let scratch = try Scratch()
    _ = try scratch.file("empty", Data())
    _ = try scratch.file("picture.h264", Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 1, 13]))
    _ = try scratch.file("text", Data("Not a video.\n".utf8))
    try FileManager.default.createDirectory(atPath: scratch.path("folder"), withIntermediateDirectories: false)
    let run = try await script("\(reader) \(input)", scratch)
    let said = [
      "nothing.h264": "no such file: nothing.h264", "empty": "empty file: empty", "picture.h264": "a PNG picture",
      "text": "no H.264 in text", "folder": "not a regular file: folder",
    ]
    #expect(run.status == 1, "\(run)")
    #expect(run.output.contains(said[input] ?? "?"), "\(run)")
    #expect(run.output.split(separator: "\n").count == 1, "\(run)")
  }

  @Test(arguments: readers) func saysThatThereIsNoH264Inside(reader: String) async throws {
    let scratch = try Scratch()
    let made = try await Command.launch(
      "audiotestsrc num-buffers=20 ! wavenc ! filesink location=\(scratch.path("sound.wav"))")
    #expect(made.status == 0, "\(made)")
    let muxed = try await Command.launch(
      "videotestsrc num-buffers=5 ! jpegenc ! matroskamux ! filesink location=\(scratch.path("jpeg.mkv"))")
    #expect(muxed.status == 0, "\(muxed)")
    for input in ["sound.wav", "jpeg.mkv"] {
      let run = try await script("\(reader) \(input)", scratch)
      #expect(run.status == 1, "\(run)")
      #expect(run.output.contains("no H.264 in"), "\(run)")
    }
  }

  @Test(arguments: suffixes) func decodes(suffix: String) async throws {
    let scratch = try Scratch()
    let run = try await script("decode \(clip(suffix)) out.yuv", scratch)
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("I420, 62 frames, MD5 of the pictures \(ClipTests.checksum)"), "\(run)")
    let sum = try await Command.run(["md5sum", scratch.path("out.yuv")])
    #expect(sum.output.hasPrefix(ClipTests.checksum))
  }

  @Test func decodesToYUV4MPEG() async throws {
    let scratch = try Scratch()
    let run = try await script("decode --y4m \(clip("mp4"))", scratch)
    #expect(run.status == 0, "\(run)")
    let bytes = try Data(contentsOf: scratch.folder.appending(path: "clip.y4m"))
    let header = Data("YUV4MPEG2 W320 H180 F25:1 Ip A1:1 C420jpeg\n".utf8)
    #expect(bytes.starts(with: header))
    #expect(bytes.count == header.count + 62 * (6 + 320 * 180 * 3 / 2))
  }

  @Test func decodesToNV12() async throws {
    let scratch = try Scratch()
    let run = try await script("decode --format NV12 \(clip("mkv")) out.nv12", scratch)
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("NV12, 62 frames"), "\(run)")
  }

  @Test(arguments: suffixes, suffixes) func repacksAndDecodesTheSame(from: String, to: String) async throws {
    let scratch = try Scratch()
    let repacked = try await script("repack \(clip(from)) out.\(to)", scratch)
    #expect(repacked.status == 0, "\(repacked)")
    let run = try await script("decode out.\(to) out.yuv", scratch)
    // FLV and Matroska begin to show at 0, where decoding cannot begin earlier: mp4mux's edit list ends before the last
    // two pictures, or begins behind the first two (so it does behind stock's parser).
    if (from == "flv" || from == "mkv") && to == "mp4" {
      #expect(run.output.contains(/6[0-2] frames/), "\(repacked)\n\(run)")
      return
    }
    #expect(run.output.contains("62 frames, MD5 of the pictures \(ClipTests.checksum)"), "\(repacked)\n\(run)")
  }

  @Test(arguments: suffixes) func inspects(suffix: String) async throws {
    let run = try await script("inspect \(clip(suffix))", Scratch())
    #expect(run.status == 0, "\(run)")
    for line in [/Profile +high\n/, /Width +320\n/, /Height +180\n/, /Frame rate +25\/1\n/, /Colorimetry +bt709\n/] {
      #expect(run.output.contains(line), "\(run)")
    }
    // 62 pictures of four slices; three of them are IDR pictures.
    #expect(run.output.contains(/\n +12 +\d+  [^\n]*IDR[^\n]*\n/), "\(run)")
    #expect(run.output.contains(/\n +236 +\d+  [^\n]*non-IDR[^\n]*\n/), "\(run)")
  }

  @Test func takesASnapshot() async throws {
    let scratch = try Scratch()
    let run = try await script("snapshot --frame 61 \(clip("mp4")) out.png", scratch)
    #expect(run.status == 0, "\(run)")
    let png = try Data(contentsOf: scratch.folder.appending(path: "out.png"))
    #expect(png.starts(with: [0x89, 0x50, 0x4e, 0x47]) && png.count > 1000)
    let beyond = try await script("snapshot --frame 62 \(clip("mp4")) beyond.png", scratch)
    #expect(beyond.status == 1 && beyond.output.contains("has no picture 62"), "\(beyond)")
  }

  @Test(arguments: suffixes) func plays(suffix: String) async throws {
    let started = ContinuousClock.now
    let run = try await script("play --sink fakesink \(clip(suffix))", Scratch())
    #expect(run.status == 0, "\(run)")
    // 62 pictures at 25 a second.
    #expect(started.duration(to: .now) > .seconds(2))
    let immediate = try await script("play --immediate --sink fakesink \(clip(suffix))", Scratch())
    #expect(immediate.status == 0, "\(immediate)")
  }

  @Test func receives() async throws {
    let scratch = try Scratch()
    let port = 20_000 + Int(ProcessInfo.processInfo.processIdentifier) % 20_000
    // One command, so that both ends run at once however many other tests wait for their turn.
    let receive = PluginUnderTest.packageRoot.appending(path: "pipelines/receive").path
    let both = """
      '\(receive)' --address 127.0.0.1 --port \(port) --seconds 8 --output out.yuv & \
      sleep 2; \
      gst-launch-1.0 -q videotestsrc is-live=true num-buffers=60 ! video/x-raw,format=I420,width=320,height=240 \
      ! x264enc tune=zerolatency ! rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port=\(port); \
      wait %1
      """
    let received = try await Command.run(["bash", "-c", both], directory: scratch.folder)
    #expect(received.status == 0, "\(received)")
    #expect(received.output.contains("320x240"), "\(received)")
    let size = try FileManager.default.attributesOfItem(atPath: scratch.path("out.yuv"))[.size] as? Int ?? 0
    #expect(size >= 50 * 320 * 240 * 3 / 2, "\(received)")
  }

  @Test func demoMatchesTheReference() async throws {
    let scratch = try Scratch()
    let run = try await script("demo", scratch, seconds: 120)
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("Pictures            62 in "), "\(run)")
    #expect(run.output.contains("Reference           \(ClipTests.checksum)"), "\(run)")
    #expect(run.output.contains("made by FFmpeg): the same"), "\(run)")
    let sheet = try Data(contentsOf: scratch.folder.appending(path: "clip.contact-sheet.png"))
    #expect(sheet.starts(with: [0x89, 0x50, 0x4e, 0x47]) && sheet.count > 10_000)
  }
}
