// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// Output files: existing files are not lost, and write errors are reported.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct OutputTests {
  private static let clip = Program.media.appending(path: "clip.mp4").path

  /// Subcommands that write files, with the suffix of the file.
  static let writers: [(arguments: [String], option: String, suffix: String)] = [
    (["decode"], "-o", ".yuv"), (["decode"], "-o", ".y4m"), (["repack"], "-o", ".mkv"), (["repack"], "-o", ".mp4"),
    (["snapshot"], "-o", ".png"), (["snapshot", "--sheet", "2x2"], "-o", ".jpg"), (["report"], "-o", ".html"),
    (["demo"], "--sheet", ".png"), (["edit", "--range", "full"], "-o", ".mkv"), (["repack"], "-o", ".m3u8"),
  ]

  @Test func reportsOutputsThatCannotBeWritten() async throws {
    var runs: [(arguments: [String], said: String)] = []
    for writer in Self.writers {
      for (place, said) in [
        ("nowhere/x", "No such file"), ("/proc/x", "/proc/x"), (String(repeating: "y", count: 300), "too long"),
      ] {
        runs.append((writer.arguments + [Self.clip, writer.option, place + writer.suffix], said))
      }
      runs.append((writer.arguments + [Self.clip, writer.option, "folder\(writer.suffix)"], "a folder"))
    }
    runs += [
      (["decode", Self.clip, "-o", "/dev/full"], "No space left"),
      (["decode", Self.clip, "-o", "/dev/full", "--format", "y4m"], "No space left"),
      (["repack", Self.clip, "-o", "/dev/full", "--format", "mkv"], "/dev/full"),
      (["report", Self.clip, "-o", "/dev/full"], "No space left"),
    ]
    try await Crowd.each(runs) { arguments, said in
      let folder = try Folder()
      for writer in Self.writers {
        let url = folder.url.appending(path: "folder\(writer.suffix)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      }
      let before = folder.names
      let run = try await Program.run(arguments, in: folder.url)
      #expect(run.status == 1 && run.said.contains(said), "\(arguments): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(arguments): \(run.said)")
      #expect(folder.names == before, "\(arguments)")
    }
  }

  /// Memory that processes share counts as a file.
  @Test func namesTheFileSizeLimitThatPreventsIsolation() async throws {
    let folder = try Folder()
    let run = try await Program.shell("ulimit -f 1; exec h26x decode \(Self.clip) -o - --frames 1", in: folder.url)
    #expect(run.status == 1 && run.said.contains("ulimit -f"), "\(run.said)")
  }

  /// A full disk, imitated by ulimit; standard output that is full, closed, or whose reader has left.
  @Test func reportsAFullDisk() async throws {
    let lines = Self.writers.filter { $0.suffix != ".mp4" }.map { writer in
      var arguments = writer.arguments
      if ["decode", "snapshot", "report"].contains(arguments[0]) { arguments.append("--no-isolation") }
      return "ulimit -f 1; "
        + "exec h26x \(arguments.joined(separator: " ")) \(Self.clip) \(writer.option) out\(writer.suffix)"
    }
    let readers = ["info", "inspect", "check", "decode -o -", "repack --format mkv -o -", "report -o -"]
    let outputs = readers.flatMap { ["h26x \($0) \(Self.clip) > /dev/full", "h26x \($0) \(Self.clip) >&-"] }
    // The limit would be one of GStreamer's registry, too, which the first program with this plugin writes.
    let first = try Folder()
    let registry = try await Program.run(["decode", Self.clip, "-o", "/dev/null"], in: first.url)
    #expect(registry.status == 0, "\(registry.said)")
    try await Crowd.each(lines + outputs) { line in
      let folder = try Folder()
      try folder.write("there", Data("precious".utf8))
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 1 && run.said.hasPrefix("h26x: "), "\(line): \(run.status) \(run.said)")
      #expect(run.said.filter { $0 == "\n" }.count == 1, "\(line): \(run.said)")
      #expect(folder.names == ["there"], "\(line)")
    }
    // A pipe that nobody reads any more ends the program without a message. The program begins when the reader has left:
    // what fits into the pipe would be written completely before.
    for reader in readers {
      let folder = try Folder()
      let reading = "(read < left; exec h26x \(reader) \(Self.clip))"
      let line = "mkfifo left; \(reading) | (exec < /dev/null; echo > left); exit ${PIPESTATUS[0]}"
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 128 + SIGPIPE && run.said.isEmpty, "\(reader): \(run.status) \(run.said)")
    }
  }

  @Test func keepsExistingFiles() async throws {
    let own = try Data(contentsOf: URL(filePath: Self.clip))
    let precious = Data("precious".utf8)
    try await Crowd.each(Self.writers) { writer in
      let folder = try Folder()
      let there = "there\(writer.suffix)"
      try folder.write(there, precious)
      try folder.write("cut.mp4", own.prefix(30))
      @Sendable func run(_ arguments: String...) async throws -> Program {
        try await Program.run(writer.arguments + arguments, in: folder.url)
      }
      let existing = try await run(Self.clip, writer.option, there)
      #expect(existing.status == 1 && existing.said.contains("--force"), "\(writer): \(existing.said)")
      #expect(folder.bytes(there) == precious)
      let failing = try await run("cut.mp4", writer.option, there, "--force")
      #expect(failing.status == 1, "\(writer): \(failing.said)")
      #expect(folder.bytes(there) == precious)
      // The output is the input, or a link to it.
      let input = "own\(writer.suffix)"
      try folder.write(input, own)
      try FileManager.default.createSymbolicLink(
        atPath: folder.url.appending(path: "link\(writer.suffix)").path, withDestinationPath: input)
      for name in [input, "link\(writer.suffix)"] {
        let same = try await run(input, writer.option, name, "--force")
        #expect(same.status == 1 && same.said.contains("the input itself"), "\(writer): \(same.said)")
        #expect(folder.bytes(input) == own)
      }
      #expect(folder.names == ["cut.mp4", "link\(writer.suffix)", input, there].sorted(), "\(writer)")
    }
  }

  /// Descriptors that the program itself has opened are nobody else's.
  @Test func writesToDescriptorsOfItsParentOnly() async throws {
    let folder = try Folder()
    let own = try await Program.shell(
      "for number in $(seq 3 20); do h26x decode \(Self.clip) -o /dev/fd/$number; echo $?; done 2>&1 | sort | uniq -c",
      in: folder.url)
    #expect(own.text.contains("18 1\n"), "\(own.text)")
    let given = try await Program.shell("h26x decode \(Self.clip) -o /dev/fd/7 7> out.yuv", in: folder.url)
    #expect(given.status == 0 && folder.bytes("out.yuv")?.count == 62 * 320 * 180 * 3 / 2, "\(given.said)")
  }

  @Test func numbersPicturesByThePattern() async throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "100%d"), withIntermediateDirectories: false)
    let run = try await Program.run(["decode", Self.clip, "-o", "100%d/a%%-%02d.png", "--frames", "2"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "100%d").path).sorted()
    #expect(names == ["a%-01.png", "a%-02.png"])
  }

  @Test(arguments: [["decode"], ["repack", "--format", "mkv"]]) func followsLinks(writer: [String]) async throws {
    let folder = try Folder()
    try folder.write("there", Data("precious".utf8))
    // A link stays a link, and its target is replaced only with --force.
    let link = folder.url.appending(path: "link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "there")
    let refused = try await Program.run(writer + [Self.clip, "-o", "link"], in: folder.url)
    #expect(refused.said.contains("--force"))
    #expect(try await Program.run(writer + [Self.clip, "-o", "link", "--force"], in: folder.url).status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "there")
    #expect(folder.bytes("there").map { $0.count > 1000 } == true)
    // A device is written directly.
    #expect(try await Program.run(writer + [Self.clip, "-o", "/dev/null"], in: folder.url).status == 0)
    #expect(folder.names == ["link", "there"])
  }

  /// A pipe that its other users made nonblocking, and that is full at first, as it may be between programs of a shell.
  @Test(arguments: [["decode"], ["repack", "--format", "mkv"], ["inspect", "--json", "--fields"]])
  func waitsForANonblockingPipe(writer: [String]) async throws {
    let folder = try Folder()
    let output = writer[0] == "inspect" ? [] : ["-o", "-"]
    let whole = try await Program.run(writer + [Self.clip] + output, in: folder.url)
    let pipe = Pipe()
    let end = pipe.fileHandleForWriting.fileDescriptor
    // F_SETPIPE_SZ, which Swift does not import.
    let (sizes, size): (Int32, Int32) = (1031, 4096)
    #expect(fcntl(end, sizes, size) == size)
    #expect(fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) == 0)
    let process = Process()
    process.executableURL = Program.executable
    process.arguments = writer + [Self.clip] + output
    process.environment = ProcessInfo.processInfo.environment.merging(["GST_PLUGIN_PATH": Program.plugin.path]) { $1 }
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Time to fill the pipe; nothing depends on whether it does.
    try await Task.sleep(for: .seconds(1))
    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && whole.status == 0)
    #expect(bytes.count == whole.output.count && bytes.count > size)
  }

  /// File systems such as FAT, and network shares, have no links.
  @Test(arguments: ["EPERM", "EOPNOTSUPP", "ENOSYS"]) func writesWithoutHardLinks(error: String) async throws {
    let folder = try Folder()
    try folder.write(
      "link.c", Data("#include <errno.h>\nint link(const char *a, const char *b) { errno = \(error); return -1; }".utf8)
    )
    let run = try await Program.shell(
      "cc -shared -fPIC -o link.so link.c && rm link.c && LD_PRELOAD=./link.so h26x decode \(Self.clip) -o out.yuv",
      in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(folder.names == ["link.so", "out.yuv"])
  }
}
