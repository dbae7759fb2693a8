// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The element's next step for its core, without holding it.
enum RepackAction: ~Copyable {
  /// Output a buffer, and fetch the next action.
  case output(Buffer)
  /// The input is used up.
  case awaitInput
  /// Send an event that was held behind access units, and fetch the next action.
  case forward(Event)
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
  /// Write it.
  case write
}

/// The reason for missing output, with the message to post.
struct RepackFailure: Error {
  let flow: FlowError
  /// nil if there is nothing to add to the flow: the element posts a memory failure if that is an error.
  let message: ElementError?

  init(_ flow: FlowError, _ message: ElementError? = nil) {
    self.flow = flow
    self.message = message
  }

  /// `codec_data` cannot be read, and something must be changed.
  static func unreadableCodecData<Codec: RepackCodec>(_ input: RepackFormat<Codec>) -> RepackFailure {
    RepackFailure(
      .error,
      ElementError(
        .stream(.format), "codec_data cannot be read: nothing in the stream can be changed.",
        debug:
          "expected \(Codec.ConfigurationRecord.name), found \(input.codecData.count) bytes; packets can only be passed through unchanged"
      ))
  }

  /// `codec_data` cannot be made of the parameter sets.
  static func unrepresentableParameterSets<Codec: RepackCodec>(_: Codec.Type) -> RepackFailure {
    RepackFailure(
      .error,
      ElementError(
        .stream(.format), "The stream's parameter sets do not fit codec_data.",
        debug: "\(Codec.ConfigurationRecord.name) has no room for their number or lengths"))
  }
}
