// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension ElementError {
  /// A muxer has left start codes in length-prefixed access units; lengths take their place.
  static func muxedWrongly(_ debug: String) -> ElementError {
    ElementError(.stream(.format), "The stream was muxed wrongly; it is being repaired.", debug: debug)
  }
}
