// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The process in which decoders of harnesses decode: this process, or one each, if the environment has
/// `TEST_ISOLATION=process`.
package enum DecoderIsolation {
  /// Codecs are in processes of their own.
  package static let isTested = unsafe getenv("TEST_ISOLATION").map { unsafe strcmp($0, "process") == 0 } ?? false

  /// A gst-launch-1.0 line with the property to test. If the line has the property, its own value comes later.
  package static func described(_ description: String) -> String {
    guard isTested else { return description }
    return description.split(separator: " ", omittingEmptySubsequences: false).map { word in
      word == "swifth264dec" || word == "swifth265dec" ? word + " isolation=process" : word
    }.joined(separator: " ")
  }
}
