// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// Transport streams whose clock begins anew, as where files were joined.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct JoinedStreamTests {
  /// Three seconds of video with sound.
  private static func part(_ folder: Folder, rate: String = "25/1", pictures: Int = 75, sound: Int = 141) async throws
    -> [UInt8]
  {
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m ! filesink location=part.ts videotestsrc pattern=ball num-buffers=\(pictures) "
        + "! video/x-raw,width=64,height=48,framerate=\(rate) ! x264enc bframes=2 key-int-max=25 ! h264parse "
        + "! queue max-size-time=0 max-size-buffers=0 ! m. audiotestsrc wave=pink-noise num-buffers=\(sound) "
        + "! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! aacparse ! queue max-size-time=0 max-size-buffers=0 ! m.",
      in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    return [UInt8](try Data(contentsOf: folder.url.appending(path: "part.ts")))
  }

  private func contents(of stream: [UInt8], in folder: Folder) async throws -> CutCompanionTests.Contents {
    try folder.write("in.ts", Data(stream))
    let run = try await Program.run(["repack", "in.ts", "-o", "out.mkv", "--force"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    return try CutCompanionTests.Contents(folder.url.appending(path: "out.mkv").path)
  }

  /// The second part begins at the same time, 20 seconds, 5 hours or 13 hours later, or an hour or half a second
  /// earlier. The first part lasts three seconds.
  @Test(arguments: TestScope.rows([0, 20, 18_000, 46_800, -3600, -1] as [Double], usually: 3))
  func continuesTimesAcrossJoinedParts(seconds: Double) async throws {
    let folder = try Folder()
    let part = try await Self.part(folder)
    let single = try await contents(of: part, in: folder)
    let ticks = UInt64(bitPattern: Int64(seconds * 90_000)) & (1 << 33 - 1)
    let joined = try await contents(
      of: part + TransportStreamTimes.moved(part, by: ticks)
        + TransportStreamTimes.moved(part, by: 1 << 33 - 90_000_000),
      in: folder)
    for kind in [StreamDescription.Kind.video, .audio] {
      let (one, all) = (try #require(single.packets[kind]), try #require(joined.packets[kind]))
      try #require(all.count == one.count * 3)
      for (index, packet) in all.enumerated() {
        let model = one[index % one.count]
        #expect(packet.bytes == model.bytes)
        // Matroska's ticks are milliseconds. A part's first frame of sound begins before the one in front of it has ended.
        #expect(
          abs(packet.time - model.time - Double(index / one.count) * 3) < (kind == .video ? 0.003 : 0.022),
          "\(kind) \(index): \(packet.time)")
      }
    }
    let hash = try await Program.run(["hash", "--each", "in.ts"], in: folder.url)
    let times = hash.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
      Int($0.split(separator: ",")[2].trimmingCharacters(in: .whitespaces))
    }
    #expect(
      times.count == 225 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 == times[1] - times[0] }, "\(times)")
  }

  /// With sound all the time, and with nothing that shows it.
  @Test(arguments: [2_900, 100]) func keepsTheClockAcrossGapsInVideo(sound: Int) async throws {
    let folder = try Folder()
    let part = try await Self.part(folder, rate: "1/15", pictures: 4, sound: sound)
    let video = try #require(try await contents(of: part, in: folder).packets[.video])
    #expect(video.map(\.time).sorted().map { ($0 * 1000).rounded() } == [0, 15_000, 30_000, 45_000])
  }

  /// Pictures that last a third of a second, and then a 25th, are on one clock.
  @Test func keepsTheClockWhenTheFrameRateChanges() async throws {
    let folder = try Folder()
    let slow = try await Self.part(folder, rate: "3/1", pictures: 12)
    let fast = try await Self.part(folder)
    let stream = slow + TransportStreamTimes.moved(fast, by: 4 * 90_000)
    let times = try #require(try await contents(of: stream, in: folder).packets[.video]).map(\.time).sorted()
    let expected: [Double] = (0..<12).map { Double($0) / 3 } + (0..<75).map { Double($0) / 25 + 4 }
    #expect(times.count == 87 && zip(times, expected).allSatisfy { abs($0 - $1) < 0.003 }, "\(times)")
  }

  @Test func reportsJoinedTimesInCheck() async throws {
    let folder = try Folder()
    let part = try await Self.part(folder)
    try folder.write("in.ts", Data(part + part))
    let check = try await Program.run(["check", "in.ts"], in: folder.url)
    #expect(check.text.contains("container-timestamps"), "\(check.text)")
  }
}
