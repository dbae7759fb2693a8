// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Why a subcommand ends before its work is done: one line for the user, and the exit status.
struct Failure: Error {
  /// The exit statuses of the program.
  enum Status: Int32 {
    /// It could not be done.
    case failed = 1
    /// The stream is not what it should be.
    case unsoundStream = 2
    /// The command line makes no sense.
    case usage = 64
  }

  var message: String
  var status = Status.failed

  init(_ message: String, _ status: Status = .failed) {
    self.message = message
    self.status = status
  }

  /// What a pipeline said, about a file.
  init(_ error: PipelineError, about name: String) {
    let reason =
      switch error {
      case .element(let failure): failure.summary
      default: "\(error)"
      }
    self.init("\(name): \(reason)")
  }
}

extension ElementFailure {
  /// The message in one line, with what the element adds to it where the message alone says little.
  var summary: String {
    let text = error.message.split(separator: "\n").joined(separator: " ")
    // GStreamer says this for whatever went wrong; the reason is in the debug text.
    let isEmpty = [
      "Internal data stream error", "GStreamer encountered a general", "Could not open resource", "Could not multiplex",
      "Could not demultiplex",
    ].contains { text.hasPrefix($0) }
    // Where in the source it was said comes first.
    let lines = error.debug.split(separator: "\n")
    guard isEmpty, let reason = lines.dropFirst().first ?? lines.first else { return text }
    return "\(reason)"
  }
}
