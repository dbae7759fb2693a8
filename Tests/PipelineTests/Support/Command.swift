// SPDX-License-Identifier: MPL-2.0
import Foundation
import Synchronization
import TestSupport

/// A program that ended, or was killed by the watchdog.
struct Command: CustomStringConvertible {
  let arguments: [String]
  /// The exit status; 128 and more means that a signal ended the program.
  let status: Int32
  /// Whether the watchdog killed it.
  let timedOut: Bool
  /// Standard output and standard error, as they came.
  let output: String

  var description: String {
    let end = timedOut ? "did not end in time" : "status \(status)"
    return "\(arguments.joined(separator: " "))\n\(end)\n\(output.suffix(2000))"
  }

  /// Whether it neither crashed nor hung, whatever else it wrote.
  var endedByItself: Bool { !timedOut && status < 128 }

  /// The first error on the pipeline's bus, as gst-launch-1.0 prints it, from a thread of its own: anywhere in a line
  /// of what it prints besides. When it loses that one, `-m` has it still.
  var busError: String? {
    Self.busError(in: output)
  }

  private static func busError(in output: String) -> String? {
    let line =
      output.firstMatch(of: /ERROR: from element [^\n]*/) ?? output.firstMatch(of: /\(error\): GstMessageError[^\n]*/)
    return line.map { String($0.output) }
  }

  /// Runs a program in its turn, in `directory`, with the plugin under test on GStreamer's path.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], directory: URL = PluginUnderTest.packageRoot
  ) async throws -> Command {
    for _ in 0..<3 {
      let run = try await Turnstile.programs.pass {
        try await start(arguments, environment: environment, directory: directory)
      }
      // gst-launch-1.0 1.22 misses about one in ten of the errors that come while it starts, whatever the elements:
      // it prints them and keeps waiting. Only then is the command run again.
      guard run.timedOut, run.busError != nil else { return run }
    }
    return try await Turnstile.programs.pass {
      try await start(arguments, environment: environment, directory: directory)
    }
  }

  /// Runs `gst-launch-1.0` with a pipeline in which no word contains a space.
  static func launch(
    _ pipeline: String, environment: [String: String] = [:]
  ) async throws -> Command {
    try await run(
      ["gst-launch-1.0", "-m"] + pipeline.split(separator: " ").map(String.init), environment: environment)
  }

  private static func start(
    _ arguments: [String], environment: [String: String], directory: URL
  ) async throws -> Command {
    // A file, not a pipe, which would have to be read while the program runs.
    let file = URL.temporaryDirectory.appending(path: "swifth26x-\(UUID().uuidString).log")
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: file) }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }

    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // Threads of this program block signals, and processes that they start inherit that: take it back. The command
    // timeout(1) runs the program in a process group of its own and ends all of it, scripts' children included.
    process.arguments = ["--default-signal", "timeout", "--kill-after=5", "600"] + arguments
    process.environment = PluginUnderTest.environment.merging(environment) { $1 }
    process.currentDirectoryURL = directory
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    // An error that was printed long ago ends the program no more.
    let isStuck = Atomic(false)
    let watch = Task {
      var looks = 0
      while looks < 3 {
        try await Task.sleep(for: .seconds(10))
        if busError(in: String(decoding: try Data(contentsOf: file), as: UTF8.self)) != nil { looks += 1 }
      }
      isStuck.store(true, ordering: .relaxed)
      process.terminate()
    }
    defer { watch.cancel() }
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume() }
    }
    let status =
      process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    return Command(
      arguments: arguments, status: status,
      timedOut: isStuck.load(ordering: .relaxed) || status == 124 || status == 137,
      output: String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }
}
