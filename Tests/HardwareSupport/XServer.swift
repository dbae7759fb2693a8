// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc

/// An X server without a screen that anybody sees. Ends with the tests.
final class XServer: Sendable {
  static let shared = XServer()
  let display: String

  private init?() {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The shell ends the server when this process is gone, and with it the other end of the pipe. Signals of a terminal
    // reach the shell too: it outlives them, because the server, which runs in the background, ignores an interrupt. If a
    // dispatch thread begins it, the server also inherits that thread's mask, which blocks SIGTERM.
    process.arguments = [
      "-c",
      "command -v Xvfb > /dev/null || exit 1; trap : INT TERM HUP; "
        + "Xvfb -displayfd 1 -screen 0 64x64x24 -nolisten tcp -noreset 2> /dev/null & "
        + "server=$!; exec > /dev/null; while read -r _; do :; done; kill -KILL $server",
    ]
    let input = Pipe()
    // Processes that this one begins later, and that may outlive it, do not keep the pipe open.
    for end in [input.fileHandleForReading, input.fileHandleForWriting, output.fileHandleForReading] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    var text = ""
    while !text.hasSuffix("\n") {
      let data = output.fileHandleForReading.readData(ofLength: 1)
      guard !data.isEmpty else { return nil }
      text += String(decoding: data, as: UTF8.self)
    }
    display = ":" + text.dropLast()
    // The pipe closes with this process.
    unsafe Self.inputs.append(input)
  }

  nonisolated(unsafe) private static var inputs: [Pipe] = []
}
