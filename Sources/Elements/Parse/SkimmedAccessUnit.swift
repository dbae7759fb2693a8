// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What was found ahead of what goes out.
enum SkimmedAccessUnit<Codec: ParserCodec> {
  /// The caps have to be made before it is known.
  case announce
  /// Its end, or what it takes to know its time, is not in the data.
  case incomplete
  /// So many bytes without the beginning of a picture.
  case other(Int)
  /// An access unit of so many bytes with the beginning of a picture, with its times. For a keyframe from which on all
  /// pictures are right, the parser when the access unit was found.
  case picture(Int, Buffer.Attributes, keyframe: ParserCore<Codec>?)
}
