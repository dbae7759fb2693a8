// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// `h26x play` with keys, signals and without a screen.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct RealTimePlayTests {
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

  /// As decode --strict: slices before the first parameter sets, a picture that only its hash in the stream betrays,
  /// and a slice whose damage libavcodec does not report. Without --strict, the status is 0.
  @Test func reportsDamage() async throws {
    let folder = try Folder()
    func media(_ name: String) throws -> Data { try Data(contentsOf: Program.media.appending(path: name)) }
    func play(_ options: String..., file: String) async throws -> Program {
      try await Program.run(["play", "--immediate", "--sink", "fakesink"] + options + [file], in: folder.url)
    }
    let stream = try media("open-gop.h264")
    let slice = try #require(stream.firstRange(of: Data([0, 0, 1, 0x41])))
    try folder.write("front.h264", stream[slice.lowerBound...])
    var changed = try media("open-gop.h265")
    changed[572] ^= 0x10
    try folder.write("hash.h265", changed)
    var flipped = try media("clip.h264")
    flipped[7268] ^= 0x10
    try folder.write("slice.h264", flipped)
    for (file, message) in [
      ("front.h264", " unreadable"), ("hash.h265", " damaged"), ("slice.h264", " damaged"),
    ] {
      let strict = try await play("--strict", file: file)
      #expect(strict.status == 2 && strict.said.contains(message), "\(file): \(strict.said)")
      let usual = try await play(file: file)
      #expect(usual.status == 0, "\(file): \(usual.said)")
    }
    try folder.write("sound.h264", try media("clip.h264"))
    let sound = try await play("--strict", file: "sound.h264")
    #expect(sound.status == 0 && !sound.said.contains("damage"), "\(sound.said)")
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
