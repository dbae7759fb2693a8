// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// `h26x receive` from a sender on this machine.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RealTimeLiveTests {
  private static let sender =
    "gst-launch-1.0 -q videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=15/1 "
    + "! x264enc tune=zerolatency key-int-max=15 speed-preset=ultrafast ! rtph264pay config-interval=-1 "
    + "! udpsink host=127.0.0.1 port="

  /// Receives while the sender sends.
  private func receive(_ arguments: String, port: Int, in folder: Folder) async throws -> Program {
    try await Program.shell(
      "\(Self.sender)\(port) & trap \"kill $!\" EXIT; \(arguments)", in: folder.url)
  }

  private func pictures(in name: String, of folder: Folder) async throws -> Int {
    let run = try await Program.run(["info", "--json", "--count", name], in: folder.url)
    let files = try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]]
    return (files?.first?["video"] as? [String: Any])?["pictures"] as? Int ?? 0
  }

  @Test(arguments: TestScope.rows(["mkv", "mp4", "ts"], usually: 1)) func recordsRTP(suffix: String) async throws {
    let (folder, port) = (try Folder(), try freePort())
    let run = try await receive(
      "h26x receive udp://127.0.0.1:\(port) -o out.\(suffix) --duration 3", port: port, in: folder)
    #expect(run.status == 0 && run.said.contains("access units received in "), "\(run.said)")
    #expect(run.said.filter { $0 == "\n" }.count == 1, "\(run.said)")
    #expect(try await pictures(in: "out.\(suffix)", of: folder) > 3)
  }

  @Test func recordsTheStreamOfAnSDPFile() async throws {
    let (folder, port) = (try Folder(), try freePort())
    let description = """
      v=0
      o=- 0 0 IN IP4 127.0.0.1
      s=test
      c=IN IP4 127.0.0.1
      t=0 0
      m=video \(port) RTP/AVP 96
      a=rtpmap:96 H264/90000
      a=fmtp:96 packetization-mode=1

      """
    try folder.write("stream.sdp", Data(description.utf8))
    let run = try await receive("h26x receive stream.sdp -o out.mkv --duration 4", port: port, in: folder)
    #expect(run.status == 0 && run.said.contains("access units received"), "\(run.said)")
    #expect(try await pictures(in: "out.mkv", of: folder) > 3)
  }

  @Test func keepsTheRecordingWhenInterrupted() async throws {
    let (folder, port) = (try Folder(), try freePort())
    let run = try await receive(
      "timeout --foreground --preserve-status -s INT 4 h26x receive udp://127.0.0.1:\(port) -o out.mp4", port: port,
      in: folder)
    #expect(run.status == 130 && run.said.contains("access units received"), "\(run.status) \(run.said)")
    #expect(try await pictures(in: "out.mp4", of: folder) > 3)
  }

  @Test func reportsThatNothingArrived() async throws {
    let (folder, port) = (try Folder(), try freePort())
    try folder.write("not.sdp", Data("v=0\n".utf8))
    for source in ["udp://127.0.0.1:\(port)", "rtsp://127.0.0.1:\(port)/none", "not.sdp", "missing.sdp"] {
      let run = try await Program.run(["receive", source, "-o", "out.mkv", "--duration", "1"], in: folder.url)
      #expect(run.status == 1 && run.said.contains(source), "\(source): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(source): \(run.said)")
      #expect(folder.names == ["not.sdp"])
    }
  }
}
