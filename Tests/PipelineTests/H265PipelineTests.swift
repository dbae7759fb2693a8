// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// H.265 through parser and repackager, in every packaging and container, into stock's decoder.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct H265PipelineTests {
  /// All pictures in presentation order, planar, no padding, by FFmpeg's own decoder.
  private static let checksums: [String: String] = {
    let table = try? String(contentsOf: PluginUnderTest.media.appending(path: "checksums-h265.md5"), encoding: .utf8)
    let rows = (table ?? "").split(separator: "\n").map { $0.split(separator: " ") }
    return Dictionary(uniqueKeysWithValues: rows.map { (String($0[1]), String($0[0])) })
  }()

  private func path(_ clip: String) -> String { PluginUnderTest.media.appending(path: clip).path }

  private func decode(_ chain: String, _ clip: String, container: String = "") async throws {
    let run = try await Command.launch(
      "\(source(path(clip), container: container)) ! \(chain) ! avdec_h265 max-threads=1 ! videocodectestsink")
    #expect(run.status == 0, "\(run)")
    #expect(run.pictureChecksum == Self.checksums[clip], "\(run)")
  }

  @Test(arguments: ["clip.h265", "open-gop.h265", "wide.h265", "ten-bit.h265"])
  func decodesEachPackagingOfTheParser(clip: String) async throws {
    for form in ["byte-stream,alignment=au", "byte-stream,alignment=nal", "hvc1,alignment=au", "hev1,alignment=au"] {
      // Stock's decoder accepts access units only.
      let whole = form.hasSuffix("nal") ? " ! h265parse" : ""
      try await decode("swifth265parse ! video/x-h265,stream-format=\(form)\(whole)", clip)
    }
  }

  @Test(arguments: [("clip-h265.mp4", "mp4"), ("clip-h265.mkv", "mkv"), ("clip-h265.ts", "ts")])
  func decodesStreamsOutOfContainers(clip: String, container: String) async throws {
    try await decode("swifth265parse", clip, container: container)
    try await decode(
      "swifth265parse ! swifth265repack ! video/x-h265,stream-format=byte-stream,alignment=au", clip,
      container: container)
  }

  @Test(arguments: ["hvc1", "hev1"], ["au", "nal"]) func decodesRepackagedStreams(format: String, alignment: String)
    async throws
  {
    for size in [2, 4] {
      try await decode(
        """
        swifth265parse ! video/x-h265,stream-format=byte-stream,alignment=\(alignment) \
        ! swifth265repack nal-length-size=\(size) ! video/x-h265,stream-format=\(format) ! swifth265repack \
        ! video/x-h265,stream-format=byte-stream,alignment=au
        """, "clip.h265")
    }
  }

  /// The times that `identity` printed for each buffer, in milliseconds.
  private func times(_ reader: String, _ kind: String) async throws -> [Int] {
    let run = try await Command.launch("-v \(reader) ! identity silent=false ! fakesink")
    return run.output.matches(of: /(pts|dts): ([0-9]+):([0-9]+):([0-9]+)\.([0-9]{3})/).compactMap { match in
      guard match.1 == kind, let hours = Int(match.2), let minutes = Int(match.3), let seconds = Int(match.4),
        let part = Int(match.5)
      else { return nil }
      return ((hours * 60 + minutes) * 60 + seconds) * 1000 + part
    }
  }

  /// A byte stream into containers: every picture is there, at the encoder's time.
  @Test(arguments: [("mp4mux", "mp4"), ("matroskamux", "mkv"), ("mpegtsmux", "ts")])
  func keepsTimesInContainers(muxer: String, container: String) async throws {
    let scratch = try Scratch()
    let file = scratch.path("muxed")
    for clip in ["clip.h265", "open-gop.h265"] {
      let muxed = try await Command.launch(
        "filesrc location=\(path(clip)) ! swifth265parse ! \(muxer) ! filesink location=\(file)")
      try #require(muxed.status == 0 && muxed.busError == nil, "\(muxed)")
      let reader = source(file, container: container)
      let decoded = try await Command.launch("\(reader) ! h265parse ! avdec_h265 max-threads=1 ! videocodectestsink")
      #expect(decoded.pictureChecksum == Self.checksums[clip], "\(decoded)")
      let shown = try await times(reader, "pts")
      #expect(fromZero(shown.sorted()) == shown.indices.map { $0 * 40 }, "\(shown)")
      if container != "mkv" {
        let decoding = try await times(reader, "dts")
        let steps = zip(decoding, decoding.dropFirst()).map { $1 - $0 }
        #expect(decoding.count == shown.count && steps.allSatisfy { $0 > 0 }, "\(decoding)")
      }
      guard clip == "clip.h265" else { continue }
      let given = try await times(source(path("clip-h265.mp4"), container: "mp4"), "pts")
      #expect(fromZero(shown) == fromZero(given), "\(shown)")
    }
  }

  private func fromZero(_ times: [Int]) -> [Int] {
    let first = times.min() ?? 0
    return times.map { $0 - first }
  }

  @Test func keepsTimesOfFields() async throws {
    let scratch = try Scratch()
    let file = scratch.path("muxed")
    let muxed = try await Command.launch(
      "filesrc location=\(path("interlaced.h265")) ! swifth265parse ! mp4mux ! filesink location=\(file)")
    try #require(muxed.status == 0 && muxed.busError == nil, "\(muxed)")
    let shown = try await times(source(file, container: "mp4"), "pts")
    #expect(fromZero(shown.sorted()) == (0..<25).map { $0 * 40 }, "\(shown)")
  }
}
