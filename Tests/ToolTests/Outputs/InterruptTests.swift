// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Signals: files are complete, and a message reports how much they have.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct InterruptTests {
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }

  /// As a live recording is: the file is complete, and plays.
  @Test(arguments: [
    (SIGINT, "clip.h264", "mp4"), (SIGTERM, "clip.h264", "mp4"), (SIGINT, "clip.h265", "mp4"),
    (SIGTERM, "clip.h265", "mkv"), (SIGINT, "clip.h265", "ts"), (SIGHUP, "clip.h264", "mkv"),
  ]) func finishesTheFileWhenInterrupted(
    signal: Int32, source: String, suffix: String
  ) async throws {
    let folder = try Folder()
    // Many times more than there is when the signal comes.
    var stream = Data()
    let once = try Data(contentsOf: Program.media.appending(path: source))
    for _ in 0..<1000 { stream.append(once) }
    try folder.write("long", stream)
    let isLong = Program.Signal(number: signal) { _ in folder.size(ofNamesEnding: ".part") > 200_000 }
    let run = try await Program.run(["repack", "long", "-o", "cut.\(suffix)"], in: folder.url, signal: isLong)
    #expect(run.status == 128 + signal, "\(run.said)")
    let info = try await Program.run(["info", "--count", "--json", "cut.\(suffix)"], in: folder.url)
    #expect(info.status == 0, "\(info.said)")
    // The summary has that it is cut, and how much there is.
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    #expect(info.text.contains("\"pictures\": \(said.1)"), "\(run.said) \(info.text)")
    #expect(folder.names == ["cut.\(suffix)", "long"])
  }

  /// After a signal, no more of the source is read.
  @Test(arguments: ["ts", "h264"]) func stopsReadingWhenInterrupted(suffix: String) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<400).reduce(into: Data()) { bytes, _ in bytes += once })
    let made = try await Program.run(["repack", "long.h264", "-o", "long.mp4"], in: folder.url)
    #expect(made.status == 0, "\(made.said)")
    let isLong = Program.Signal(number: SIGINT) { _ in folder.size(ofNamesEnding: ".part") > 200_000 }
    let run = try await Program.run(["repack", "long.mp4", "-o", "cut.\(suffix)"], in: folder.url, signal: isLong)
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    #expect(run.status == 130 && Int(said.1).map { $0 < 400 * 62 } == true, "\(run.said)")
  }

  /// A copy is complete even if its source waits for more.
  @Test(arguments: ["mp4", "mkv", "ts"]) func finishesTheFileWhenInterruptedAtAWaitingPipe(suffix: String) async throws
  {
    let folder = try Folder()
    let pipe = folder.url.appending(path: "pipe")
    try #require(unsafe mkfifo(pipe.path, 0o600) == 0)
    let held = unsafe open(pipe.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    try #require(held >= 0)
    defer { close(held) }
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.ts"))
    let writer = Task.detached {
      var rest = (0..<60).reduce(into: Data()) { data, _ in data.append(clip) }
      while !rest.isEmpty, !Task.isCancelled {
        let count = unsafe rest.withUnsafeBytes { unsafe write(held, $0.baseAddress, $0.count) }
        if count > 0 { rest.removeFirst(count) } else { try await Task.sleep(for: .milliseconds(5)) }
      }
    }
    let isLong = Program.Signal(number: SIGINT) { _ in folder.size(ofNamesEnding: ".part") > 100_000 }
    let run = try await Program.run(
      ["repack", "-", "-o", "cut.\(suffix)"], in: folder.url, signal: isLong, input: pipe)
    writer.cancel()
    #expect(run.status == 128 + SIGINT, "\(run.said)")
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    let info = try await Program.run(["info", "--count", "--json", "cut.\(suffix)"], in: folder.url)
    #expect(info.text.contains("\"pictures\": \(said.1)"), "\(run.said) \(info.text)")
  }

  /// An edited byte stream ends with a whole access unit, even if its source waits for more.
  @Test(arguments: ["clip.h264", "clip.h265"], [false, true]) func finishesAnEditWhenInterrupted(
    source: String, isPipe: Bool
  ) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: source))
    let stream = (0..<(isPipe ? 20 : 2000)).reduce(into: Data()) { bytes, _ in bytes += once }
    try folder.write("long.h264", stream)
    let isLong = Program.Signal(number: SIGINT) { _ in folder.size(ofNamesEnding: ".part") > 200_000 }
    let run: Program
    if isPipe {
      let pipe = folder.url.appending(path: "pipe")
      try #require(unsafe mkfifo(pipe.path, 0o600) == 0)
      let held = unsafe open(pipe.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      try #require(held >= 0)
      defer { close(held) }
      let writer = Task.detached {
        var rest = stream
        while !rest.isEmpty, !Task.isCancelled {
          let count = unsafe rest.withUnsafeBytes { unsafe write(held, $0.baseAddress, $0.count) }
          if count > 0 { rest.removeFirst(count) } else { try await Task.sleep(for: .milliseconds(5)) }
        }
      }
      run = try await Program.run(
        ["edit", "-", "-o", "cut.h264", "--colour", "bt709"], in: folder.url, signal: isLong, input: pipe)
      writer.cancel()
    } else {
      run = try await Program.run(
        ["edit", "long.h264", "-o", "cut.h264", "--colour", "bt709"], in: folder.url, signal: isLong)
    }
    let said = try #require(
      run.said.firstMatch(of: /cut.h264: incomplete, interrupted after ([0-9]+) access units:/), "\(run.said)")
    #expect(run.status == 130)
    let info = try await Program.run(["info", "--count", "--json", "cut.h264"], in: folder.url)
    #expect(info.text.contains("\"pictures\": \(said.1)"), "\(run.said) \(info.text)")
  }

  /// The beginning of a cut may be in the unread rest. Matroska has an index: such a cut is over too soon.
  @Test(arguments: TestScope.rows(["h264", "ts"], usually: 1)) func reportsThatAnInterruptedCutWroteNothing(
    source: String
  ) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<4000).reduce(into: Data()) { bytes, _ in bytes += once })
    if source != "h264" {
      let made = try await Program.run(["repack", "long.h264", "-o", "long.\(source)"], in: folder.url)
      try #require(made.status == 0, "\(made.said)")
    }
    let names = folder.names
    // The signal comes while the source is read: before that, nothing handles it.
    let hasBegun = Program.Signal(number: SIGINT) { process in
      let counts = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
      let read = counts.split(separator: "\n").first?.split(separator: " ").last.flatMap { Int($0) } ?? 0
      return read > 10_000_000 && folder.names.contains { $0.hasSuffix(".part") }
    }
    let run = try await Program.run(
      ["repack", "long.\(source)", "-o", "cut.ts", "--start", "9900"], in: folder.url, signal: hasBegun)
    #expect(run.status == 130 && run.said == "h26x: interrupted: nothing was written\n", "\(run.said)")
    #expect(folder.names == names)
  }

  private static let shortRanges = (0..<240).flatMap { ["--range", "\(4 * $0)-\(4 * $0 + 3)"] }

  /// Joined ranges are complete up to the signal, whether it comes before a range has a picture, or between two of many
  /// short ones.
  @Test(arguments: [
    ("h264", ["--range", "0-2.48", "--range", "9900-9901", "--mode", "hidden"]),
    ("mp4", shortRanges + ["--mode", "hidden"]),
    ("mp4", shortRanges + ["--mode", "exact"]),
  ]) func finishesTheRangesSoFarWhenInterrupted(source: String, ranges: [String]) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    let isRaw = source == "h264"
    try folder.write("long.h264", (0..<(isRaw ? 4000 : 400)).reduce(into: Data()) { bytes, _ in bytes += once })
    if !isRaw {
      let made = try await Program.run(["repack", "long.h264", "-o", "long.mp4"], in: folder.url)
      try #require(made.status == 0, "\(made.said)")
    }
    let isDue = Program.Signal(number: SIGINT) { process in
      // There is room for the description in front.
      guard isRaw else { return folder.size(ofNamesEnding: ".part") > 1_500_000 }
      let counts = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
      let read = counts.split(separator: "\n").first?.split(separator: " ").last.flatMap { Int($0) } ?? 0
      return read > 10_000_000 && folder.names.contains { $0.hasSuffix(".part") }
    }
    let run = try await Program.run(
      ["cut", "long.\(source)", "-o", "cut.mp4"] + ranges, in: folder.url, signal: isDue)
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    let count = try #require(Int(said.1))
    #expect(run.status == 130 && count >= 62 && count < 400 * 62, "\(run.said)")
    let info = try await Program.run(["info", "--count", "--json", "cut.mp4"], in: folder.url)
    #expect(info.text.contains("\"pictures\": \(count)"), "\(run.said) \(info.text)")
    // A range without a picture is left out.
    #expect(!run.said.contains("has no picture"), "\(run.said)")
  }

  /// A file that has everything is completed, and gets its name. Its description of 3 MB comes behind its media, which
  /// are 1 MB longer than the byte stream, and is moved to the front then.
  @Test(
    .enabled(if: TestScope.isExhaustive), arguments: [["repack"], ["cut", "--mode", "keyframe", "--start", "0"]]
  ) func keepsAFileThatIsCompleted(command: [String]) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    let count = 4000
    try folder.write("long.h264", (0..<count).reduce(into: Data()) { bytes, _ in bytes += once })
    let isWhole = Program.Signal(number: SIGINT) { [size = once.count * count] _ in
      folder.size(ofNamesEnding: ".part") > size + 2_000_000
    }
    let run = try await Program.run(
      [command[0], "long.h264", "-o", "whole.mp4"] + command.dropFirst(), in: folder.url, signal: isWhole)
    #expect(run.status == 130 && !run.said.contains("incomplete"), "\(run.status): \(run.said)")
    #expect(folder.names == ["long.h264", "whole.mp4"])
    let info = try await Program.run(["info", "--count", "--json", "whole.mp4"], in: folder.url)
    #expect(info.text.contains("\"pictures\": \(62 * count)"), "\(info.text)")
  }

  @Test func reportsHowMuchItDecodedWhenInterrupted() async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<4000).reduce(into: Data()) { bytes, _ in bytes += once })
    let isLong = Program.Signal(number: SIGINT) { _ in folder.size(ofNamesEnding: ".part") > 200_000 }
    let run = try await Program.run(
      ["decode", "long.h264", "-o", "cut.yuv", "--size", "32x18"], in: folder.url, signal: isLong)
    let said = try #require(run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) pictures/), "\(run.said)")
    #expect(run.status == 130 && folder.bytes("cut.yuv")?.count == Int(said.1).map { $0 * 32 * 18 * 3 / 2 })
  }

  /// A parent such as nohup ignores signals.
  @Test func ignoresSignalsThatItsParentIgnores() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      """
      mkfifo in; trap '' INT HUP
      h26x repack in -o out.h264 & program=$!
      exec 3> in; head -c 30000 '\(clip("h264"))' >&3
      for try in $(seq 600); do ls -A | grep -q part && break; sleep 0.1; done
      kill -INT $program; kill -HUP $program
      tail -c +30001 '\(clip("h264"))' >&3; exec 3>&-
      wait $program; echo "status $?"
      """, in: folder.url)
    #expect(run.text == "status 0\n", "\(run.text) \(run.said)")
    #expect(folder.bytes("out.h264") == (try Data(contentsOf: URL(filePath: clip("h264")))))
  }

  /// Output into a pipe that nobody reads cannot be finished: a message explains how to end the program.
  @Test func explainsThatASecondSignalEndsTheProgram() async throws {
    let folder = try Folder()
    let program = Program.executable.path
    let run = try await Program.shell(
      """
      mkfifo pipe; sleep 1000 < pipe & reader=$!; trap "kill $reader" EXIT
      '\(program)' decode '\(clip("h264"))' -o - > pipe 2> said & program=$!
      for try in $(seq 50); do [ $(ls /proc/$program/task | wc -l) -gt 6 ] && break; sleep 0.2; done; sleep 1
      kill -TERM $program
      for try in $(seq 300); do grep -q 'second signal' said && break; sleep 0.2; done
      kill -TERM $program; wait $program; echo "status $?"
      """, in: folder.url)
    #expect(run.text.contains("status 143"), "\(run.text) \(run.said)")
    let said = String(decoding: folder.bytes("said") ?? Data(), as: UTF8.self)
    #expect(said.contains("a second signal ends the program immediately"), "\(said)")
  }
}
