// SPDX-License-Identifier: MPL-2.0
import Foundation

/// A run of the program under test.
struct Program {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let media = root.appending(path: "Tests/Media")
  static let plugin = root.appending(path: ".build/plugin")
  /// The program that `swift test` built, in the same folder as the tests.
  static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "h26x")
  static let isBuilt =
    FileManager.default.fileExists(atPath: plugin.appending(path: "libgstswifth26x.so").path)
    && FileManager.default.isExecutableFile(atPath: executable.path)

  let status: Int32
  /// Standard error.
  let said: String
  /// Standard output.
  let output: Data

  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs `h26x`, or another program, with these arguments.
  ///
  /// - Parameters:
  ///   - signal: sent after a while, as `timeout` does it: `INT 1.5`.
  ///   - input: what is read at standard input.
  static func run(
    _ arguments: [String], in folder: URL, signal: String? = nil, input: URL? = nil,
    executable: URL = Program.executable
  ) async throws -> Program {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let limit = signal.map { $0.split(separator: " ").map(String.init) }
    let timeout = limit.map { ["timeout", "--preserve-status", "--kill-after=60", "-s", $0[0], $0[1]] }
    process.arguments =
      ["--default-signal"] + (timeout ?? ["timeout", "--kill-after=5", "120"]) + [executable.path] + arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging([
      "GST_PLUGIN_PATH": plugin.path, "LC_ALL": "C",
      "PATH": "\(Program.executable.deletingLastPathComponent().path):/usr/local/bin:/usr/bin:/bin",
      "GST_REGISTRY": root.appending(path: ".build/pipeline-tests-registry.bin").path,
    ]) { $1 }
    let (out, err) = (folder.appending(path: ".stdout"), folder.appending(path: ".stderr"))
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: out)
    process.standardError = try FileHandle(forWritingTo: err)
    // Not waitUntilExit, which would block one of the few threads of the concurrency pool.
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume() }
    }
    defer { for file in [out, err] { try? FileManager.default.removeItem(at: file) } }
    return Program(
      status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
      said: String(decoding: try Data(contentsOf: err), as: UTF8.self), output: try Data(contentsOf: out))
  }
}

extension Program {
  /// Runs a line of bash, in which `h26x` is the program.
  static func shell(_ line: String, in folder: URL) async throws -> Program {
    try await run(["-c", line], in: folder, executable: URL(filePath: "/bin/bash"))
  }
}

/// A folder for one test, removed with its last reference.
final class Folder: Sendable {
  let url: URL
  init() throws {
    url = URL.temporaryDirectory.appending(path: "h26x-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  func bytes(_ name: String) -> Data? { try? Data(contentsOf: url.appending(path: name)) }
  func write(_ name: String, _ bytes: Data) throws { try bytes.write(to: url.appending(path: name)) }
  /// The names of its files, sorted.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
