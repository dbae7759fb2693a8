// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport

extension Structure {
  /// The structure in GStreamer's text form.
  borrowing func words() -> String { view.description }
}

extension Caps {
  /// Caps of a valid description.
  static func of(_ text: String) throws(Harness.Failure) -> Caps {
    guard let caps = Caps(parsing: text) else { throw .noCaps }
    return caps
  }
}
