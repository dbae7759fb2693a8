// SPDX-License-Identifier: MPL-2.0
import CLinux
import Foundation
import Glibc
import VideoDecoding

/// A run of `codec-host`, an application.
final class Host {
  /// The folder of what `swift test` has built.
  static let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
  static let program = folder.appending(path: "codec-host")

  /// A starter whose processes are those of `codec-trial`, which the environment variable `variable` changes.
  static func trialStarter(_ variable: String) -> CodecStarter {
    let path = Array(folder.appending(path: "codec-trial").path.utf8)
    return CodecStarter(at: CodecServiceLocation(path: path), environment: [variable])
  }

  let process = Process()
  private let output = Pipe()

  /// Begins it, by another program in front of it if need be.
  init(_ arguments: [String], before: [String] = [], environment: [String: String] = [:]) throws {
    let line = ["env", "--default-signal"] + before + [Self.program.path] + arguments
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = Array(line.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// The next line that it prints; `nil` at the end.
  func line() -> String? {
    var bytes: [UInt8] = []
    while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// All lines, to the end or to one that is "ready".
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line(), line != "ready" { lines.append(line) }
    return lines
  }

  /// Whether a line of shell ends well.
  static func run(_ line: String) throws -> Bool {
    let process = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", line])
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// The lines of a run to its end.
  static func lines(
    _ arguments: [String], before: [String] = [], environment: [String: String] = [:]
  ) throws -> [String] {
    let host = try Host(arguments, before: before, environment: environment)
    let lines = host.lines()
    host.process.waitUntilExit()
    return lines
  }
}

/// A process that is looked at from outside.
struct Witness {
  private let descriptor: Int32

  /// `nil` where there is no such process.
  init?(_ process: pid_t) {
    descriptor = clinux_pidfd_open(process)
    if descriptor < 0 { return nil }
  }

  /// Waits until it has ended.
  func waitForEnd() {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&state, 1, -1) < 0, errno == EINTR {}
    close(descriptor)
  }
}
