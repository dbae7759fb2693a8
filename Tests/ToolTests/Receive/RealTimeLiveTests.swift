// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// `h26x receive` from a sender on this machine, and `h26x play` with keys.
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

  @Test(arguments: ["mkv", "mp4", "ts"]) func recordsRTP(suffix: String) async throws {
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

  /// The clip lasts two and a half seconds: a program that still plays it after five has paused.
  @Test func obeysKeys() async throws {
    var (keyboard, terminal): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&keyboard, &terminal, nil, nil, nil) == 0)
    defer { for end in [keyboard, terminal] { close(end) } }
    func press(_ keys: String) {
      _ = unsafe Array(keys.utf8).withUnsafeBytes { unsafe write(keyboard, $0.baseAddress, $0.count) }
    }
    let folder = try Folder()
    let process = Process()
    process.executableURL = Program.executable
    process.arguments = ["play", "--sink", "fakesink", Program.media.appending(path: "clip.mp4").path]
    process.environment = ProcessInfo.processInfo.environment.merging(["GST_PLUGIN_PATH": Program.plugin.path]) { $1 }
    process.currentDirectoryURL = folder.url
    process.standardInput = FileHandle(fileDescriptor: terminal)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    press(" ")
    try process.run()
    for keys in [".", ".", "\u{1B}[D", "\u{1B}[C"] {
      try await Task.sleep(for: .seconds(1))
      press(keys)
    }
    try await Task.sleep(for: .seconds(1))
    #expect(process.isRunning)
    press(" q")
    for _ in 0..<600 where process.isRunning { try await Task.sleep(for: .milliseconds(100)) }
    #expect(!process.isRunning)
    if process.isRunning { process.terminate() } else { #expect(process.terminationStatus == 0) }
    #expect(Self.hasEcho(terminal))
  }

  /// Whether a terminal has its usual settings: lines, with echo.
  private static func hasEcho(_ terminal: Int32) -> Bool {
    var settings = termios()
    unsafe tcgetattr(terminal, &settings)
    return settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
  }

  /// The pipe delivers the beginning of a picture and no more, so that there is nothing to show yet.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func restoresTheTerminalWhenInterrupted(signal: Int32) async throws {
    var (keyboard, terminal): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&keyboard, &terminal, nil, nil, nil) == 0)
    defer { for end in [keyboard, terminal] { close(end) } }
    let folder = try Folder()
    let pipe = folder.url.appending(path: "pipe").path
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    try writer.write(contentsOf: clip.prefix(5000))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["--default-signal", Program.executable.path, "play", "--sink", "fakesink", pipe]
    process.environment = ProcessInfo.processInfo.environment.merging(["GST_PLUGIN_PATH": Program.plugin.path]) { $1 }
    process.standardInput = FileHandle(fileDescriptor: terminal)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<600 where Self.hasEcho(terminal) && process.isRunning { try await Task.sleep(for: .milliseconds(100)) }
    #expect(!Self.hasEcho(terminal) && process.isRunning)
    kill(process.processIdentifier, signal)
    for _ in 0..<600 where process.isRunning { try await Task.sleep(for: .milliseconds(100)) }
    #expect(!process.isRunning)
    if process.isRunning { process.terminate() } else { #expect(process.terminationStatus == 128 + signal) }
    #expect(Self.hasEcho(terminal))
  }

  @Test func reportsWhyItCannotPlay() async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.mp4").path
    let late = try await Program.run(["play", "--sink", "fakesink", "--start", "100", clip], in: folder.url)
    #expect(
      late.status == 1 && late.said.contains("--start 0:01:40.000 is beyond the end at 0:00:02.480"), "\(late.said)")
    let dark = try await Program.shell("DISPLAY= WAYLAND_DISPLAY= h26x play '\(clip)'", in: folder.url)
    #expect(dark.status == 1 && dark.said.contains("no screen to show on"), "\(dark.said)")
  }

  /// A pipe that nobody writes: q ends the wait, and the terminal is as it was.
  @Test func quitsBeforeTheFirstPicture() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "mkfifo pipe; sleep 60 > pipe & (sleep 1; printf q; sleep 1) "
        + "| script -qec 'h26x play --sink fakesink pipe; echo status $?; stty -a | grep -c -- -icanon' log; kill %1",
      in: folder.url)
    #expect(run.text.contains("status 0\r\n0\r\n"), "\(run.text)\(run.said)")
  }
}
