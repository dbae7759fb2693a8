// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A finding ahead of the output.
enum SkimmedAccessUnit<Codec: ParserCodec> {
  /// The caps must be made before it is known.
  case announce
  /// Its end, or what its time is computed from, is not in the data.
  case incomplete
  /// So many bytes without the beginning of a picture.
  case other(Int)
  /// An access unit of so many bytes with the beginning of a picture, with its times; the entry if decoding can begin
  /// with it.
  case picture(Int, Buffer.Attributes, SeekEntry<Codec>?)
}
