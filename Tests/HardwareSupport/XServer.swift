// SPDX-License-Identifier: MPL-2.0
import Foundation

/// An X server without a screen that anybody sees. Ends with the tests.
final class XServer: Sendable {
  static let shared = XServer()
  let display: String

  private init?() {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The shell ends the server when this process is gone, and with it the other end of the pipe.
    process.arguments = [
      "-c",
      "command -v Xvfb > /dev/null || exit 1; Xvfb -displayfd 1 -screen 0 64x64x24 -nolisten tcp -noreset 2> /dev/null & "
        + "server=$!; exec > /dev/null; cat; kill $server",
    ]
    let input = Pipe()
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
