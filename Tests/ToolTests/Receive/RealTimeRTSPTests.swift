// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x receive` from GStreamer's own RTSP server, `Tests/Scripts/RTSP/server`; nothing is tested where it cannot be had.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RealTimeRTSPTests {
  private static let server = Program.root.appending(path: "Tests/Scripts/RTSP/server").path

  /// Runs lines of bash beside a server, whose address is `$S`; `run NAME …` receives into NAME in the background, and
  /// leaves its messages and the exit status in NAME.said. Answers `false` where there is no server.
  private func serve(_ lines: String, in folder: Folder) async throws -> Bool {
    let run = try await Program.shell(
      """
      coproc server { exec '\(Self.server)' '\(Program.media.path)' 2> server.log; }
      read -r port <&"${server[0]}" || exit 77
      S=rtsp://127.0.0.1:$port
      run() {
        local name=$1
        shift
        { timeout --kill-after=5 600 h26x receive "$@" -o "$name"; echo "status $?"; } &> "$name.said" &
      }
      \(lines)
      """, in: folder.url)
    if run.status == 77 { return false }
    #expect(run.status == 0, "\(run.said)")
    return true
  }

  private func said(_ name: String, in folder: Folder) -> String {
    folder.bytes("\(name).said").map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
  }

  /// The clips as they are in the files, with the sender's times; sound is named.
  @Test func recordsTheStreamsOfAServer() async throws {
    let folder = try Folder()
    let isServed = try await serve(
      """
      run udp.mkv "$S/h264" --transport udp
      run tcp.mp4 "$S/h265" --transport tcp
      run secret.mkv "rtsp://user:p%40ss@127.0.0.1:$port/secret" --transport tcp
      run live.mkv "$S/live" --duration 2
      wait $(jobs -p | tail -n 4)
      """, in: folder)
    guard isServed else { return }
    for name in ["udp.mkv", "tcp.mp4", "secret.mkv"] {
      let words = said(name, in: folder)
      #expect(words.contains(" access units received in ") && words.hasSuffix("status 0\n"), "\(words)")
      let run = try await Program.run(["check", name], in: folder.url)
      // On a busy machine the last pictures may not be on their way yet when the server ends the session.
      #expect(run.text.contains(" access units, 0 errors, 0 warnings"), "\(run.text)")
    }
    let live = said("live.mkv", in: folder)
    #expect(live.contains("left behind: audio (PCMA)\nstatus 0"), "\(live)")
  }

  @Test func reportsAServersRefusal() async throws {
    let folder = try Folder()
    let isServed = try await serve(
      """
      run missing.mkv "$S/none"
      run closed.mkv "$S/secret"
      run wrong.mkv "rtsp://user:wrong@127.0.0.1:$port/secret"
      run sound.mkv "$S/mono"
      run host.mkv rtsp://nowhere.invalid/stream
      wait $(jobs -p | tail -n 5)
      """, in: folder)
    guard isServed else { return }
    for (name, reason) in [
      ("missing.mkv", "/none: Not found"), ("closed.mkv", "/secret: needs a user and a password"),
      ("wrong.mkv", "/secret: the server rejected the user or the password"),
      ("sound.mkv", "/mono: no H.264 or H.265; it has audio (PCMA)"),
      ("host.mkv", "rtsp://nowhere.invalid/stream: cannot connect"),
    ] {
      let words = said(name, in: folder)
      #expect(words.contains(reason) && words.hasSuffix("status 1\n"), "\(words)")
      #expect(words.filter { $0 == "\n" }.count == 2 && !words.contains("wrong@"), "\(words)")
      #expect(folder.bytes(name) == nil)
    }
  }

  /// What came before the server was gone is whole, and so is what an interrupt ended.
  @Test func keepsTheRecordingWhenTheServerIsGone() async throws {
    let folder = try Folder()
    let isServed = try await serve(
      """
      run gone-tcp.mp4 "$S/live" --transport tcp
      run gone-udp.mp4 "$S/live" --transport udp
      receivers=$(jobs -p | tail -n 2)
      { timeout --foreground --preserve-status -s INT 8 h26x receive "$S/live" -o stopped.mp4; echo "status $?"; } &> stopped.mp4.said
      kill "$server_PID"
      wait $receivers
      true
      """, in: folder)
    guard isServed else { return }
    #expect(said("stopped.mp4", in: folder).hasSuffix("status 130\n"), "\(said("stopped.mp4", in: folder))")
    for name in ["stopped.mp4", "gone-tcp.mp4", "gone-udp.mp4"] {
      #expect(said(name, in: folder).contains("access units received"), "\(said(name, in: folder))")
      let run = try await Program.run(["info", "--json", "--count", name], in: folder.url)
      let files = try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]]
      #expect(((files?.first?["video"] as? [String: Any])?["pictures"] as? Int ?? 0) > 3, "\(name): \(run.said)")
    }
  }
}
