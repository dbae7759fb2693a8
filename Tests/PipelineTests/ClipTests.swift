// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The project's own clip, raw and in every container, through every element.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct ClipTests {
  static let suffixes = ["h264", "mp4", "mkv", "ts", "flv"]
  static let checksum = "3f1a3e4dbe966a3f73dae322394a458d"

  private func clip(_ suffix: String) -> String {
    source(PluginUnderTest.media.appending(path: "clip.\(suffix)").path, container: suffix)
  }

  @Test func usesThePublishedChecksum() throws {
    let sums = try String(contentsOf: PluginUnderTest.media.appending(path: "checksums.md5"), encoding: .utf8)
    #expect(sums.split(separator: "\n").count == Self.suffixes.count)
    #expect(sums.split(separator: "\n").allSatisfy { $0.hasPrefix(Self.checksum) })
  }

  @Test(arguments: suffixes)
  func decodesTheClipFromEachContainer(suffix: String) async throws {
    let run = try await Command.launch("\(clip(suffix)) ! swifth264parse ! swifth264dec ! videocodectestsink")
    #expect(run.status == 0, "\(run)")
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  @Test(arguments: suffixes, ["avc", "avc3", "byte-stream"])
  func decodesRepackagedStreams(suffix: String, format: String) async throws {
    let run = try await Command.launch(
      """
      \(clip(suffix)) ! swifth264parse ! swifth264repack ! video/x-h264,stream-format=\(format),alignment=au \
      ! swifth264dec ! videocodectestsink
      """)
    #expect(run.status == 0, "\(run)")
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  @Test(arguments: ["stream-format=byte-stream,alignment=nal", "stream-format=avc", "stream-format=avc3"])
  func decodesEachPackagingOfTheParser(form: String) async throws {
    let run = try await Command.launch(
      "\(clip("h264")) ! swifth264parse ! video/x-h264,\(form) ! swifth264dec ! videocodectestsink")
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  /// Parser and repackager work with stock's decoder, and stock's parser with ours.
  @Test(arguments: [
    "swifth264parse ! avdec_h264", "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! avdec_h264",
    "h264parse ! swifth264dec", "h264parse ! video/x-h264,stream-format=avc ! swifth264repack ! swifth264dec",
  ])
  func worksWithStockElements(chain: String) async throws {
    let run = try await Command.launch("\(clip("h264")) ! \(chain) ! videocodectestsink")
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  /// videocodectestsink computes the checksum of NV12 over planar samples.
  @Test(arguments: [1, 2, 4])
  func decodesToNV12(threads: Int) async throws {
    let run = try await Command.launch(
      """
      \(clip("h264")) ! swifth264parse ! swifth264dec max-threads=\(threads) ! video/x-raw,format=NV12 \
      ! videocodectestsink
      """)
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  /// The same bytes in a buffer for each access unit and in a buffer for each NAL unit.
  @Test func splitsAccessUnitsIntoNALUnits() async throws {
    let scratch = try Scratch()
    var buffers: [Int] = []
    for alignment in ["au", "nal"] {
      let run = try await Command.launch(
        """
        -v \(clip("h264")) ! swifth264parse ! video/x-h264,stream-format=byte-stream,alignment=\(alignment) \
        ! identity silent=false ! filesink location=\(scratch.path(alignment))
        """)
      #expect(run.status == 0, "\(run)")
      buffers.append(run.output.matches(of: /identity0: last-message = chain/).count)
    }
    let units = try Data(contentsOf: scratch.folder.appending(path: "au"))
    let nalUnits = try Data(contentsOf: scratch.folder.appending(path: "nal"))
    #expect(units == nalUnits && !units.isEmpty)
    // 62 pictures of four slices, each with a delimiter; parameter sets and SEI.
    #expect(buffers[0] == 62 && buffers[1] > 62 * 5)
  }

  @Test(arguments: ["mp4mux", "matroskamux", "mpegtsmux"])
  func muxesAByteStream(muxer: String) async throws {
    let scratch = try Scratch()
    let muxed = try await Command.launch(
      "\(clip("h264")) ! swifth264parse ! \(muxer) ! filesink location=\(scratch.path("muxed"))")
    #expect(muxed.status == 0 && muxed.busError == nil, "\(muxed)")
    let container = ["mp4mux": "mp4", "matroskamux": "mkv", "mpegtsmux": "ts"][muxer] ?? ""
    let run = try await Command.launch(
      """
      \(source(scratch.path("muxed"), container: container)) ! swifth264parse ! swifth264dec ! videocodectestsink
      """)
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
  }

  /// Without other elements, decodebin finds ours by their caps.
  @Test func isAutoplugged() async throws {
    let path = PluginUnderTest.media.appending(path: "clip.mp4").path
    let run = try await Command.launch(
      "filesrc location=\(path) ! decodebin ! videocodectestsink",
      environment: ["GST_PLUGIN_FEATURE_RANK": "h264parse:NONE,avdec_h264:NONE,openh264dec:NONE"])
    #expect(run.pictureChecksum == Self.checksum, "\(run)")
    #expect(run.output.contains("swifth264dec"))
  }

  /// Applications that autoplug get our elements when their rank is raised.
  @Test(arguments: suffixes)
  func isAutopluggedByRank(suffix: String) async throws {
    let path = PluginUnderTest.media.appending(path: "clip.\(suffix)").path
    let ranks = ["GST_PLUGIN_FEATURE_RANK": "swifth264parse:MAX,swifth264dec:MAX,h264parse:NONE"]
    for player in ["playbin", "playbin3"] {
      let run = try await Command.launch(
        "-v \(player) uri=file://\(path) video-sink=videocodectestsink audio-sink=fakesink", environment: ranks)
      #expect(run.pictureChecksum == Self.checksum, "\(run)")
      #expect(run.output.contains("swifth264dec0.GstPad:src: caps = video/x-raw"), "\(run)")
      #expect(!run.output.contains("avdec_h264") && !run.output.contains("GstH264Parse:"), "\(run)")
    }
  }

  @Test(arguments: ["decodebin", "decodebin3"]) func doesNotReplaceStockElements(autoplugger: String) async throws {
    let path = PluginUnderTest.media.appending(path: "clip.mp4").path
    let run = try await Command.launch("-v filesrc location=\(path) ! \(autoplugger) ! fakesink")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("h264parse0"))
    // It may have been queried, but has not negotiated.
    #expect(!run.output.contains(/swifth264[a-z]+0\.GstPad/))
  }
}
