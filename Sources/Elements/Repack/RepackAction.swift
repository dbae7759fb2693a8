// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The element's next step for its core, without holding it.
enum RepackAction: ~Copyable {
  /// Output a buffer, and fetch the next action.
  case output(Buffer)
  /// The input is used up.
  case awaitInput
  /// The parameter sets have come: send the held caps, then the events after them, and fetch the next action.
  case releaseCaps
  /// Send caps with this `codec_data`, unless it is empty, and with what edits have changed, and fetch the next action.
  case announce(codecData: [UInt8])
}

/// The core's next step for the current access unit.
enum RepackStep {
  /// There is none: assemble one.
  case assemble
  /// Send the caps that wait for its parameter sets.
  case describe
  /// Write it, with these NAL units in front.
  case write([[UInt8]])
}
