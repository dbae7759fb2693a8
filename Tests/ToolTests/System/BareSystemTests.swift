// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

/// Systems that lack what the program usually finds: /proc, and enough threads.
@Suite(.enabled(if: Program.isBuilt)) struct BareSystemTests {
  private static let clip = Program.media.appending(path: "clip.mp4").path

  /// These tests need the right to mount, which containers may lack. Without /proc, libdispatch ends the program sooner
  /// or later, and Swift has no arguments.
  @Test(arguments: ["info \(clip)", "hash \(clip)", "repack \(clip) -o out.mkv", "", "--version"])
  func reportsThatProcIsMissing(command: String) async throws {
    let folder = try Folder()
    let prefix = geteuid() == 0 ? "unshare --mount" : "unshare --user --map-root-user --mount"
    func run(_ command: String) async throws -> Program {
      try await Program.shell("\(prefix) bash -c 'mount -t tmpfs none /proc && \(command)'", in: folder.url)
    }
    guard try await run("true").status == 0 else { return }
    let bare = try await run("h26x \(command)")
    #expect(bare.status == 1 && bare.said.hasPrefix("h26x: the program needs /proc"), "\(bare.status) \(bare.said)")
    #expect(folder.names.isEmpty)
  }

  /// With too few, libdispatch would wait for ever, and GLib would end the program.
  @Test(arguments: 2...8) func refusesToRunWithTooFewThreads(limit: Int) async throws {
    let folder = try Folder()
    // Limits count for a user's processes: here for one who has no others, whom root alone can become.
    guard geteuid() == 0 else { return }
    let name = "h26x-\(UInt32.random(in: 0...UInt32.max))"
    let user = 1_000_000 + UInt32.random(in: 0..<1_000_000_000)
    let prefix = "setpriv --reuid=\(user) --regid=\(user) --clear-groups "
    let made = try await Program.shell(
      "cp $(command -v h26x) \(name) && cp \(Self.clip) in.mp4 && chmod -R a+rx .", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for command in ["info in.mp4", "check in.mp4", "hash in.mp4"] {
      let run = try await Program.shell(
        "\(prefix)bash -c 'ulimit -u \(limit); exec ./\(name) \(command)'", in: folder.url)
      #expect(run.status == 1 && run.said.contains("no more threads can be started"), "\(command): \(run.said)")
    }
    let run = try await Program.shell("\(prefix)bash -c 'ulimit -u 40; exec ./\(name) info in.mp4'", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
  }
}
