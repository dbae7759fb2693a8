// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// The program as a user calls it.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct ToolTests {
  static let suffixes = ["h264", "mp4", "mkv", "ts", "flv"]
  private func clip(_ suffix: String) -> String { Program.media.appending(path: "clip.\(suffix)").path }
  /// 62 pictures of 320x180, planar.
  private static let rawSize = 62 * 320 * 180 * 3 / 2

  @Test(arguments: suffixes) func describesTheFile(suffix: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["info", "--count", "--json", clip(suffix)], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let files = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    let video = try #require(files.first?["video"] as? [String: Any])
    #expect(video["codec"] as? String == "H.264")
    #expect(video["width"] as? Int == 320 && video["height"] as? Int == 180)
    #expect(video["profile"] as? String == "high" && video["framerate"] as? String == "25/1")
    #expect(video["pictures"] as? Int == 62 && video["groups"] as? Int == 3)
    #expect(files.first?["duration"] as? Double == 2.48)
  }

  @Test(arguments: suffixes) func decodesTheSamePicturesFromEachContainer(suffix: String) async throws {
    let folder = try Folder()
    let first = try await Program.run(["decode", clip("h264"), "-o", "a.yuv"], in: folder.url)
    #expect(first.status == 0 && first.said.contains("62 pictures, 320x180 I420"), "\(first.said)")
    #expect(folder.bytes("a.yuv")?.count == Self.rawSize)
    let run = try await Program.run(["decode", clip(suffix), "-o", "-"], in: folder.url)
    #expect(run.status == 0 && run.output == folder.bytes("a.yuv"), "\(run.said)")
  }

  @Test func writesYUV4MPEG() async throws {
    let folder = try Folder()
    for (name, header) in [
      ("clip.mp4", "YUV4MPEG2 W320 H180 F25:1 Ip A1:1 C420mpeg2\n"),
      ("interlaced.h264", "YUV4MPEG2 W96 H64 F25:1 Ib A1:1 C420mpeg2\n"),
    ] {
      let run = try await Program.run(
        ["decode", Program.media.appending(path: name).path, "-o", "-", "--format", "y4m", "--frames", "3"],
        in: folder.url)
      #expect(run.status == 0 && run.output.starts(with: Data(header.utf8)), "\(run.said)")
      #expect(run.output.dropFirst(header.utf8.count).starts(with: Data("FRAME\n".utf8)))
    }
  }

  @Test func decodesASpanInAnotherSizeAndFormat() async throws {
    let folder = try Folder()
    let cutSize = 10 * 160 * 90 * 3 / 2
    let run = try await Program.run(
      [
        "decode", clip("mp4"), "-o", "-", "--start", "1", "--duration", "0.4", "--size", "160x90", "--pixel-format",
        "nv12",
      ], in: folder.url)
    #expect(run.status == 0 && run.output.count == cutSize, "\(run.said)")
    let pictures = try await Program.run(["decode", clip("mkv"), "-o", "p-%02d.png", "--frames", "3"], in: folder.url)
    #expect(pictures.status == 0, "\(pictures.said)")
    #expect(folder.names == ["p-01.png", "p-02.png", "p-03.png"])
  }

  @Test(arguments: suffixes) func keepsPicturesBetweenContainers(from: String) async throws {
    let folder = try Folder()
    let reference = try await Program.run(["decode", clip("h264"), "-o", "-"], in: folder.url).output
    for to in Self.suffixes + ["mov"] {
      let run = try await Program.run(["repack", clip(from), "-o", "out.\(to)"], in: folder.url)
      #expect(run.status == 0, "\(from) to \(to): \(run.said)")
      let decoded = try await Program.run(["decode", "out.\(to)", "-o", "-"], in: folder.url)
      #expect(decoded.output == reference, "\(from) to \(to): \(decoded.said)")
    }
  }

  @Test func readsAndWritesPipes() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["repack", "-", "-o", "-", "--format", "annexb"], in: folder.url, input: URL(filePath: clip("mkv")))
    #expect(run.status == 0, "\(run.said)")
    try folder.write("out.h264", run.output)
    let compared = try await Program.run(["compare", "out.h264", clip("mp4")], in: folder.url)
    #expect(compared.status == 0 && compared.text.contains("62 pictures, 0 of them different"), "\(compared.said)")
  }

  @Test func comparesAndTakesSnapshots() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["compare", clip("h264"), Program.media.appending(path: "wide.h264").path], in: folder.url)
    #expect(run.status == 2 && run.said.contains("picture 0"), "\(run.said)")
    for (options, name) in [(["--at", "1.2"], "a.png"), (["--frame", "61"], "b.jpg"), (["--sheet", "4x3"], "c.png")] {
      let shot = try await Program.run(["snapshot", clip("mp4"), "-o", name] + options, in: folder.url)
      #expect(shot.status == 0 && folder.bytes(name).map { $0.count > 2000 } == true, "\(shot.said)")
    }
    let beyond = try await Program.run(["snapshot", clip("mp4"), "-o", "d.png", "--frame", "62"], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("it has 62"), "\(beyond.said)")
  }

  @Test func comparesPicturesWithAChecksum() async throws {
    let folder = try Folder()
    let sum = "3f1a3e4dbe966a3f73dae322394a458d"
    let run = try await Program.run(["demo", clip("h264"), "--md5", sum], in: folder.url)
    #expect(run.status == 0 && run.text.contains("Pictures            62 in "), "\(run.said)\(run.text)")
    #expect(run.text.contains("\(sum) (given with --md5): the same"), "\(run.text)")
    #expect(folder.names == ["clip.contact-sheet.png"])
  }

  /// A live recording that is interrupted: the file is complete, and plays.
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

  /// No more of the source is read then.
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

  /// So is one whose source waits for more.
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

  /// So is an edited byte stream, which ends with a whole access unit; and one whose source waits for more.
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
  @Test(arguments: ["h264", "ts"]) func reportsThatAnInterruptedCutWroteNothing(source: String) async throws {
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

  /// So does what is decoded as far as it went.
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

  /// Signals that who starts the program ignores, as nohup does, are ignored by it too.
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
}
