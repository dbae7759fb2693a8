// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `h26x receive` of packets that are in disorder, broken, or not what they should be.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RealTimeReceptionTests {
  /// Receives packets; a second after it took the last one, the program is terminated: bash has its background jobs
  /// ignore SIGINT.
  private func receive(
    _ arguments: String, _ packets: [[UInt8]], port: Int, in folder: Folder, seconds: Int = 1,
    after delay: Duration = .milliseconds(500)
  ) async throws -> Program {
    async let run = Program.shell(
      """
      h26x receive \(arguments) & receiver=$!
      while [[ ! -e sent ]] && kill -0 $receiver; do sleep 0.1; done 2> /dev/null
      for ((i = 0; i < \(10 * seconds); i++)); do kill -0 $receiver && sleep 0.1; done 2> /dev/null
      kill -TERM $receiver 2> /dev/null
      wait $receiver
      """, in: folder.url)
    try await RTPSender.send(packets, to: port, after: delay)
    try folder.write("sent", Data())
    defer { try? FileManager.default.removeItem(at: folder.url.appending(path: "sent")) }
    return try await run
  }

  /// The sender begins later than the jitter buffer's latency, and every two packets change places.
  @Test func reordersPacketsWithoutLoss() async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    var packets = try sender.packets(of: "clip.h264")
    for index in stride(from: 9, to: packets.count - 2, by: 2) { packets.swapAt(index, index + 1) }
    let run = try await receive(
      "udp://127.0.0.1:\(port) --latency 3000 -o out.mkv", packets, port: port, in: folder, seconds: 4,
      after: .milliseconds(3500))
    #expect(
      run.status == 143 && run.said.contains("62 access units received in \(packets.count) packets\n"), "\(run.said)")
  }

  /// A sender that is started again begins with times of its own. The times of the file continue.
  @Test func continuesWithAnotherSender() async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    let first = try sender.packets(of: "clip.h264")
    sender = RTPSender(sequence: 30_000, timestamp: 5, source: 9)
    let second = try sender.packets(of: "clip.h264")
    let run = try await receive(
      "udp://127.0.0.1:\(port) -o out.mp4", first + second, port: port, in: folder)
    #expect(run.status == 143 && run.said.contains("124 access units"), "\(run.said)")
    let check = try await Program.run(["info", "--json", "out.mp4"], in: folder.url)
    let files = try JSONSerialization.jsonObject(with: check.output) as? [[String: Any]]
    #expect(files?.first?["duration"] as? Double ?? 0 > 4.5, "\(check.text)")
  }

  /// Some senders mark each packet as the last one of its access unit, or put all of an access unit into one NAL unit.
  @Test(
    arguments: TestScope.rows(["clip.h264", "small-slices.h264", "clip.h265"], usually: 2),
    TestScope.rows(["mp4", "mkv", "ts"], usually: 1))
  func keepsEveryPicture(clip: String, target: String) async throws {
    for isJoined in [false, true] {
      let (folder, port) = (try Folder(), try freePort())
      var sender = RTPSender(marksAll: true)
      let packets = isJoined ? try sender.joinedPackets(of: clip) : try sender.packets(of: clip)
      let codec = clip.contains("265") ? "h265" : "h264"
      let run = try await receive(
        "udp://127.0.0.1:\(port) --codec \(codec) --latency 500 -o out.\(target)", packets, port: port, in: folder)
      let source = Program.media.appending(path: clip).path
      let expected = try await Program.run(["hash", source], in: folder.url)
      let copied = try await Program.run(["hash", "out.\(target)"], in: folder.url)
      #expect(copied.text == expected.text, "\(isJoined): \(run.said) \(copied.said)")
    }
  }

  /// GStreamer's muxers write no record of Dolby Vision: MP4 and MOV get it afterwards, as in a copy of the stream.
  @Test(
    arguments: TestScope.rows(
      [("mp4", 8), ("mov", 8), ("mp4", 5), ("mkv", 8), ("ts", 8)] as [(String, UInt8)], usually: 1))
  func describesDolbyVision(suffix: String, profile: UInt8) async throws {
    let (folder, port) = (try Folder(), try freePort())
    let rpu = try AddedMetadata.rpu(profile: profile)
    let stream = try AddedMetadata.clip(behind: { _ in [rpu] })
    try folder.write("in.h265", stream)
    let copied = try await Program.run(["repack", "in.h265", "-o", "copy.\(suffix)"], in: folder.url)
    var sender = RTPSender()
    let packets = sender.packets(of: stream, isH265: true)
    let run = try await receive(
      "udp://127.0.0.1:\(port) --codec h265 --latency 500 -o out.\(suffix)", packets, port: port, in: folder)
    let line = "the configuration of Dolby Vision is made from the stream: profile "
    #expect(copied.said.contains("copy.\(suffix): \(line)\(profile)."), "\(copied.said)")
    let isMovie = suffix.hasPrefix("m") && suffix != "mkv"
    if isMovie {
      let configuration = try #require(copied.said.components(separatedBy: line).last?.split(separator: "\n").first)
      #expect(run.said.hasSuffix("out.\(suffix): \(line)\(configuration)\n"), "\(run.said)")
    } else {
      let loss = "; left behind: the configuration of Dolby Vision that the stream calls for\n"
      #expect(run.said.contains(loss), "\(run.said)")
    }
    // The record with its box, and the sample entry.
    func description(_ name: String) throws -> [Data] {
      let file = try #require(folder.bytes(name))
      return [("dvcC", 28), ("dvvC", 28), ("dvh1", 4), ("hvc1", 4)].compactMap { type, count in
        file.range(of: Data(type.utf8)).map { Data(file[$0.lowerBound...].prefix(count)) }
      }
    }
    if isMovie {
      #expect(try description("out.\(suffix)") == description("copy.\(suffix)"))
      // MP4 has a brand for it, and stays MP4.
      for name in ["out.\(suffix)", "copy.\(suffix)"] {
        let type = String(decoding: try #require(folder.bytes(name)).prefix(40), as: UTF8.self)
        #expect(type.contains("dby1") == (suffix == "mp4") && type.contains("isom") == (suffix == "mp4"), "\(type)")
      }
    }
    let check = try await Program.run(["check", "out.\(suffix)"], in: folder.url)
    #expect(check.text.contains(" access units, 0 errors") && !check.text.contains("rpu"), "\(check.text)")
    let (expected, hashes) = try await (
      Program.run(["hash", "in.h265"], in: folder.url), Program.run(["hash", "out.\(suffix)"], in: folder.url)
    )
    #expect(hashes.text == expected.text && !hashes.text.isEmpty, "\(hashes.said)")
    let back = try await Program.shell(
      "h26x extract out.\(suffix) --dolby-vision x.bin && h26x extract in.h265 --dolby-vision y.bin", in: folder.url)
    #expect(back.status == 0 && folder.bytes("x.bin") == folder.bytes("y.bin"), "\(back.said)")
  }

  /// GStreamer's depayloaders crash where a packet is too short, and end where its type is not supported.
  @Test(arguments: TestScope.rows(["clip.h264", "clip.h265"], usually: 1)) func dropsBrokenPackets(
    clip: String
  ) async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    let isH265 = clip == "clip.h265"
    let packets =
      try sender.packets(of: clip)
      + (isH265
      ? [[0x62, 1, 0x93, 1, 2], [0x62], [0x62, 1], [50 << 1, 1, 0, 0]]
      : [[0x7C, 0x85, 1, 2], [0x7C], [0x78], [0x7A, 0, 0, 0]])
      .map { sender.packet($0) } + sender.packets(of: clip)
    let run = try await receive(
      "udp://127.0.0.1:\(port) --codec \(isH265 ? "h265" : "h264") --latency 500 -o out.mkv",
      packets, port: port, in: folder)
    #expect(run.status == 143 && run.said.contains(" packets, 3 broken"), "\(run.status) \(run.said)")
  }

  /// The recording before an error is kept, and plays.
  @Test func keepsTheRecordingBeforeAnError() async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    var packets = try sender.packets(of: "clip.h264")
    for _ in 0..<4 { packets += try sender.packets(of: "wide.h264") }
    let run = try await receive(
      "udp://127.0.0.1:\(port) --latency 500 -o out.mkv", packets, port: port, in: folder, seconds: 60)
    #expect(run.status == 1 && run.said.contains("Matroska cannot store"), "\(run.status) \(run.said)")
    #expect(run.said.contains("access units received") && !run.said.contains("incomplete"), "\(run.said)")
    let check = try await Program.run(["check", "out.mkv"], in: folder.url)
    #expect(check.text.contains(" access units, 0 errors"), "\(check.text)\(check.said)")
  }

  @Test func explainsWhyThereIsNoPicture() async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    let slices = try sender.packets(of: "clip.h264") { (1...5).contains($0 & 0x1F) }
    let others = try sender.packets(of: "clip.h265")
    for (packets, options, reason) in [
      (slices, "", "packets, without parameter sets"), (others, "", "packets, which look like H.265: --codec h265\n"),
      (slices, "--payload 97", "packets, of payload type 96, not 97: --payload 96\n"),
    ] {
      let run = try await receive(
        "udp://127.0.0.1:\(port) \(options) -o out.mkv", packets, port: port,
        in: folder)
      #expect(run.said.contains(reason), "\(run.status) \(run.said)")
    }
    try folder.write("sound.sdp", Data("v=0\nm=audio 5000 RTP/AVP 97\na=rtpmap:97 OPUS/48000/2\n".utf8))
    for (source, reason) in [
      ("sound.sdp", "sound.sdp: no H.264 or H.265; it has audio (OPUS)\n"),
      ("/dev/zero", "/dev/zero: no session description (SDP), which begins with v=0\n"),
    ] {
      let run = try await Program.run(["receive", source, "-o", "out.mkv"], in: folder.url)
      #expect(run.status == 1 && run.said.contains(reason), "\(run.status) \(run.said)")
    }
  }

  /// A description comes by standard input, and the stream goes to standard output. The end does not wait for a sender
  /// that has stopped.
  @Test func receivesThroughPipes() async throws {
    let (folder, port) = (try Folder(), try freePort())
    var sender = RTPSender()
    let packets = try sender.packets(of: "clip.h264")
    try folder.write(
      "stream.sdp",
      Data("v=0\nc=IN IP4 127.0.0.1\nm=video \(port) RTP/AVP 96\na=rtpmap:96 H264/90000\n".utf8))
    let run = try await receive(
      "- -o - --format annexb < stream.sdp > out.h264", packets, port: port, in: folder
    )
    #expect(run.status == 143 && run.said.contains("standard output: H.264, "), "\(run.status) \(run.said)")
    #expect(folder.bytes("out.h264")?.starts(with: [0, 0, 0, 1]) == true)
    let refused = try await Program.run(["receive", "-o", "-", "--format", "mp4"], in: folder.url)
    #expect(refused.status == 64 && refused.said.contains("written out of order"), "\(refused.said)")
  }
}
