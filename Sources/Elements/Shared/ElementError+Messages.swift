// SPDX-License-Identifier: MPL-2.0
import GStreamer

extension ElementError {
  /// A buffer from upstream has memory that cannot be mapped.
  static var unreadableInput: ElementError {
    ElementError(
      .resource(.read), "A buffer from upstream cannot be read.",
      debug: "its memory cannot be mapped, or memory ran out")
  }

  /// Memory for output cannot be had, or not be mapped.
  static var unwritableOutput: ElementError {
    ElementError(
      .resource(.write), "An output buffer cannot be written.", debug: "its memory cannot be allocated or mapped")
  }

  /// Either of the two.
  static var unusableMemory: ElementError {
    ElementError(
      .resource(.read), "A buffer cannot be read or written.", debug: "its memory cannot be allocated or mapped")
  }

  /// A muxer has left start codes in length-prefixed access units; lengths take their place.
  static func muxedWrongly(_ debug: String) -> ElementError {
    ElementError(.stream(.format), "The stream was muxed wrongly; it is being repaired.", debug: debug)
  }
}
