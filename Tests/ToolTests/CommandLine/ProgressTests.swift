// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

@testable import Containers

/// Progress: for programs by `--progress`, and for people in a terminal.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct ProgressTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// Objects of standard error, and its other lines.
  private func objects(_ run: Program) throws -> (objects: [[String: Any]], rest: [Substring]) {
    let lines = run.said.split(separator: "\n")
    let objects = try lines.filter { $0.hasPrefix("{") }.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    return (objects, lines.filter { !$0.hasPrefix("{") })
  }

  /// The last line has all that was done.
  @Test(arguments: TestScope.rows(["h264", "mp4", "mkv"], usually: 1)) func printsProgressInSeconds(suffix: String)
    async throws
  {
    let folder = try Folder()
    let clip = Self.media("clip.\(suffix)")
    for arguments in [
      ["decode", clip, "-o", "/dev/null"], ["hash", clip], ["repack", clip, "-o", "out.mkv"],
      ["snapshot", clip, "--sheet", "2x2", "-o", "a.png"], ["compare", clip, clip],
    ] {
      let run = try await Program.run(arguments + ["--progress", "json"], in: folder.url)
      let last = try #require(try objects(run).objects.last, "\(arguments): \(run.said)")
      #expect(run.status == 0 && last.keys.sorted() == ["command", "done", "left", "rate", "total", "unit"])
      #expect(last["command"] as? String == arguments[0] && last["unit"] as? String == "seconds", "\(run.said)")
      let done = try #require(last["done"] as? Double)
      #expect(done > 2.3 && done < 2.6, "\(arguments): \(run.said)")
    }
  }

  @Test(arguments: ["h264", "mkv"]) func printsProgressInBytes(suffix: String) async throws {
    let folder = try Folder()
    let clip = Self.media("clip.\(suffix)")
    let size = try Data(contentsOf: URL(filePath: clip)).count
    let transportSize = try Data(contentsOf: Program.media.appending(path: "clip.ts")).count
    for arguments in [
      ["inspect", clip], ["check", clip], ["report", clip, "-o", "a.html"], ["info", "--count", clip],
      // A transport stream has no duration.
      ["hash", Self.media("clip.ts")],
    ] {
      let run = try await Program.run(arguments + ["--progress", "json"], in: folder.url)
      let (objects, rest) = try objects(run)
      let last = try #require(objects.last, "\(arguments): \(run.said)")
      #expect(run.status == 0 && rest.isEmpty, "\(run.said)")
      #expect(last["command"] as? String == arguments[0] && last["unit"] as? String == "bytes", "\(run.said)")
      let size = arguments[0] == "hash" ? transportSize : size
      #expect(last["done"] as? Int == size && last["total"] as? Int == size, "\(run.said)")
      #expect(last["left"] as? Double == 0, "\(run.said)")
    }
  }

  /// A pipe has neither a known size nor a known rest.
  @Test func printsNullForUnknownAmounts() async throws {
    let folder = try Folder()
    let run = try await Program.shell(
      "cat \(Self.media("clip.h264")) | h26x check --progress json -", in: folder.url)
    let last = try #require(try objects(run).objects.last, "\(run.said)")
    #expect(last["total"] is NSNull && last["left"] is NSNull, "\(run.said)")
    let done = ProgressAmount(done: 5, total: 20, unit: .bytes).json("check", spent: 2)
    #expect(done == #"{"command":"check","done":5,"total":20,"unit":"bytes","rate":3,"left":6.000}"# + "\n")
  }

  /// With `--progress none`, also in a terminal.
  @Test func printsNoProgressOnDemand() async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<100).reduce(into: Data()) { bytes, _ in bytes += once })
    let run = try await Program.shell(
      "script -qec 'h26x decode long.h264 -o /dev/null --progress none' log < /dev/null > printed", in: folder.url)
    let log = String(decoding: try #require(folder.bytes("log")), as: UTF8.self)
    #expect(run.status == 0 && log.contains("6200 pictures") && !log.contains("\u{1B}"), "\(log)")
    let wrong = try await Program.run(["check", "long.h264", "--progress", "often"], in: folder.url)
    #expect(wrong.status == 64 && wrong.said.contains("auto"), "\(wrong.said)")
  }

  // MARK: In a terminal

  @Test(arguments: 1...100) func fitsProgressIntoTheTerminal(_ width: Int) {
    for duration in [nil, 3661] as [Double?] {
      for spent in [nil, 0, 12.5] as [Double?] {
        let amount = ProgressAmount(done: 125, total: duration, unit: .seconds)
        let line = amount.line(spent: spent, fitting: width)
        #expect(line.count <= width && !line.isEmpty, "\(line)")
        if width > 60, duration != nil {
          #expect(line.hasPrefix("0:02:05.000 of 1:01:01.000, 3 %"), "\(line)")
          #expect(line.hasSuffix("speed 10.0") == (spent == 12.5), "\(line)")
        }
      }
    }
  }

  /// In a terminal of 40 columns every line of progress takes the place of the one before.
  @Test(arguments: [
    ("decode long.h264 -o /dev/null", 100), ("compare long.h264 long.h264", 12),
    ("snapshot long.h264 --sheet 4x3 -o a.png", 100),
  ])
  func keepsProgressOnOneLine(_ command: String, _ copies: Int) async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long.h264", (0..<copies).reduce(into: Data()) { bytes, _ in bytes += once })
    let run = try await Program.shell(
      "script -qec 'stty cols 40; h26x \(command)' log < /dev/null > printed", in: folder.url)
    let log = String(decoding: try #require(folder.bytes("log")), as: UTF8.self)
    let lines = log.components(separatedBy: "\r\u{1B}[K").dropFirst()
    #expect(run.status == 0 && lines.count > 1, "\(run.said) \(log)")
    #expect(lines.dropLast().allSatisfy { $0.count < 40 && !$0.contains("\n") }, "\(log)")
    #expect(lines.contains { $0.hasPrefix("0:") }, "\(log)")
  }
}
