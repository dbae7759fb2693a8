// SPDX-License-Identifier: MPL-2.0
package import GStreamer

/// Why a subcommand ends before its work is done: one line for the user, and the exit status.
package struct Failure: Error {
  package var message: String
  package var status = ExitStatus.failed
  /// The pipeline's error that the message is about, if any.
  package private(set) var cause: PipelineError?
  /// Whether nothing is wrong but that a requested range has no picture.
  package private(set) var isEmptyRange = false
  /// Whether that range begins behind the last picture.
  package private(set) var isBehindVideo = false

  package init(
    _ message: String, _ status: ExitStatus = .failed, cause: PipelineError? = nil, isEmptyRange: Bool = false,
    isBehindVideo: Bool = false
  ) {
    self.message = message
    self.status = status
    self.cause = cause
    self.isEmptyRange = isEmptyRange
    self.isBehindVideo = isBehindVideo
  }

  /// A pipeline's error, with the name of the file that it is about.
  package init(_ error: PipelineError, about name: String) {
    let reason =
      switch error {
      case .element(let failure): failure.summary
      case .noSuchElement(let kind): "GStreamer has no element \(kind)\(ElementPackage.remedy(for: kind))"
      default: "\(error)"
      }
    self.init("\(name): \(reason)", cause: error)
  }

  /// The error that an element posted, if that is the cause.
  package var elementFailure: ElementFailure? {
    if case .element(let failure) = cause { failure } else { nil }
  }
}

extension ElementFailure {
  /// The message in one line. If it is one of GStreamer's general messages, it is the reason in the debug text
  /// instead.
  package var summary: String {
    let text = error.message.split(separator: "\n").joined(separator: " ")
    // The first line is the place in the source.
    let lines = error.debug.split(separator: "\n")
    guard error.isGeneral, let reason = lines.dropFirst().first ?? (text.isEmpty ? lines.first : nil) else {
      return text
    }
    return "\(reason)"
  }
}
