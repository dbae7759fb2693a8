// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An access unit on its way, or a NAL unit where those are cut.
struct ParsedAccessUnit<Codec: ParserCodec>: Sendable {
  /// What the scanner found in it.
  var scanned = ScannedAccessUnit<Codec.SliceHeader>()
  /// What its SEI messages say.
  var sei = SEIContent()
  /// Its picture order was read, if it has one.
  var isOrderKnown = false
  /// Caps were looked at for it.
  var isAnnounced = false
  /// Decoding can begin with it; nil before that was looked at.
  var isRandomAccessPoint: Bool?
  /// Where it begins in what the base class hands over.
  var start = 0
  /// The size of what goes out, before anything is put in.
  var outputSize = 0
  /// The timestamps that it has or was given, and its flags.
  var attributes = Buffer.Attributes()
  /// The decoding time that it was given because upstream gave none, in nanoseconds of upstream's segment. The first
  /// ones may lie before 0: the outgoing segment is shifted.
  var rebuiltDecodingTime: Int64?

  /// Whether the first slice of a picture is in it.
  var beginsPicture: Bool { scanned.contents.contains(.pictureStart) }
  /// Whether that is an IDR picture's.
  var beginsSequence: Bool { scanned.contents.isSuperset(of: [.idr, .pictureStart]) }
}
