// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import TestSupport

/// A run of the program under test.
struct Program {
  static let root = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
  static let media = root.appending(path: "Tests/Media")
  /// The containers of `clip` in that folder, by their suffixes; the first is a byte stream.
  static let clipSuffixes = ["h264", "mp4", "mkv", "ts", "flv"]
  /// The folder of the plugin: `PLUGIN_FOLDER`, or the one that `make plugin` fills.
  static let plugin =
    ProcessInfo.processInfo.environment["PLUGIN_FOLDER"].map { URL(filePath: $0) }
    ?? root.appending(path: ".build/plugin")
  /// The program that `H26X` names; without it the one that `swift test` built, in the same folder as the tests.
  static let executable =
    ProcessInfo.processInfo.environment["H26X"].map { URL(filePath: $0) }
    ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "h26x")
  static let isBuilt =
    FileManager.default.fileExists(atPath: plugin.appending(path: "libgstswifth26x.so").path)
    && FileManager.default.isExecutableFile(atPath: executable.path)

  let status: Int32
  /// Standard error.
  let said: String
  /// Standard output.
  let output: Data

  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs `h26x`, or another program, in its turn.
  ///
  /// - Parameters:
  ///   - signal: sent as soon as it is due.
  ///   - input: what is read at standard input.
  static func run(
    _ arguments: [String], in folder: URL, signal: Signal? = nil, input: URL? = nil,
    executable: URL = Program.executable
  ) async throws -> Program {
    try await Turnstile.programs.pass {
      try await start(arguments, in: folder, signal: signal, input: input, executable: executable)
    }
  }

  /// A signal to a program that runs.
  struct Signal: Sendable {
    let number: Int32
    /// Whether this process should get the signal. The test checks its progress every few milliseconds.
    let isDue: @Sendable (pid_t) -> Bool

    fileprivate func send(to process: Process) {
      let number = process.processIdentifier
      Thread.detachNewThread {
        while !isDue(number) {
          guard process.isRunning else { return }
          usleep(5000)
        }
        kill(number, self.number)
      }
    }
  }

  private static func start(
    _ arguments: [String], in folder: URL, signal: Signal?, input: URL?, executable: URL
  ) async throws -> Program {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // timeout(1) passes on signals it gets, but may do so twice: a program that gets one has none.
    let limit = signal == nil ? ["timeout", "--kill-after=5", "600"] : []
    process.arguments = ["--default-signal"] + limit + [executable.path] + arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging([
      "GST_PLUGIN_PATH": plugin.path, "LC_ALL": "C",
      "PATH": "\(Program.executable.deletingLastPathComponent().path):/usr/local/bin:/usr/bin:/bin",
      "GST_REGISTRY": root.appending(path: ".build/pipeline-tests-registry.bin").path,
    ]) { $1 }
    let (out, err) = (folder.appending(path: ".stdout"), folder.appending(path: ".stderr"))
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    let read = try input.map { try FileHandle(forReadingFrom: $0) }
    let written = try [out, err].map { try FileHandle(forWritingTo: $0) }
    process.standardInput = read ?? FileHandle.nullDevice
    (process.standardOutput, process.standardError) = (written[0], written[1])
    // Process keeps what it was given, and Foundation does not survive some 1,300 descriptors.
    defer { for handle in [read].compactMap(\.self) + written { try? handle.close() } }
    // Not waitUntilExit, which would block one of the few threads of the concurrency pool.
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      process.terminationHandler = { _ in ended.resume() }
      do {
        try process.run()
        signal?.send(to: process)
      } catch { ended.resume() }
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

extension Folder {
  /// The size of the largest file that has `suffix` at the end of its name, whatever is in front.
  func size(ofNamesEnding suffix: String) -> Int {
    names.filter { $0.hasSuffix(suffix) }.compactMap { name in
      try? FileManager.default.attributesOfItem(atPath: url.appending(path: name).path)[.size] as? Int
    }.max() ?? 0
  }
}
