// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Foundation
import Testing
import VideoDecoding

/// What tests do with codec processes.
enum Service {
  /// Whether the process answers.
  static func answers(_ process: SessionProcess) -> Bool {
    do throws(LinkError) {
      var message = LinkMessage()
      var command = MessageWriter()
      CodecCommand.drain.write(to: &command)
      try process.socket.send(command.bytes.span)
      try process.socket.receive(into: &message)
      return message.bytes.count > 0
    } catch { return false }
  }

  /// A program of a line of shell that plays a service, for as long as `body` runs.
  ///
  /// A shell writes the file. A descriptor of this process would be in every process that another test forks meanwhile,
  /// and a file that anyone can write to is not executed (`ETXTBSY`).
  static func withScript<Result>(_ line: String, mode: Int = 0o755, _ body: (CodecServiceLocation) throws -> Result)
    throws -> Result
  {
    let file = URL.temporaryDirectory.appending(path: "h26x-codec-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let writing = try Process.run(
      URL(filePath: "/bin/sh"), arguments: ["-c", "printf '#!/bin/sh\n%s\n' \"$1\" > \"$0\"", file.path, line])
    writing.waitUntilExit()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return try body(CodecServiceLocation(path: Array(file.path.utf8)))
  }

  /// Fails the test whose service ended otherwise than expected.
  static func recordUnexpected(_ error: ServiceError?) {
    Issue.record(Comment(rawValue: error.map { "\($0)" } ?? "no error"))
  }

  /// The error of beginning a service that is such a script.
  static func error(of line: String, mode: Int = 0o755, patience: Duration = .seconds(60)) throws -> ServiceError? {
    try withScript(line, mode: mode) { location in
      do throws(ServiceError) {
        _ = try CodecStarter(at: location, patience: patience).begin(ServiceRequest())
        return nil
      } catch { return error }
    }
  }
}
