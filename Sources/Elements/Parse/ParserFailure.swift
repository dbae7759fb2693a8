// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The reason a stream cannot be parsed any further.
enum ParserFailure<Codec: ParserCodec> {
  /// So many bytes hold no end of an access unit.
  case endless(Int)
  /// An access unit of this many bytes cannot be written.
  case unwritable(Int, from: NALPackaging, to: StreamFormat<Codec>?, BitstreamError)

  /// The message for the application.
  var message: ElementError {
    switch self {
    case .endless(let size):
      ElementError(
        .stream(.format), "This does not look like \(Codec.name): an access unit does not end.",
        debug: "found \(size) bytes without the end of an access unit, expected at most \(ParserLimits.accessUnitSize)")
    case .unwritable(let size, let input, let output, let error):
      ElementError(
        .stream(.format), "An access unit cannot be repackaged.",
        debug: "found \(size) bytes of \(input), expected \(output?.rawValue ?? "nothing"): \(error)")
    }
  }
}
