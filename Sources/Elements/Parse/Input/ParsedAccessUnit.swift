// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An access unit, or a NAL unit where those are output one by one, on its way through the stages.
struct ParsedAccessUnit<Codec: ParserCodec>: Sendable {
  /// What the scanner found in it.
  var scanned = ScannedAccessUnit<Codec.SliceHeader>()
  /// The content of its SEI messages.
  var sei = SEIContent()
  /// Decoding may begin with it.
  var recoveryPoint: Codec.RecoveryPoint?
  /// Its picture order was read, if it has one.
  private var isOrderKnown = false
  /// The caps were checked for it.
  private(set) var isAnnounced = false
  /// Decoding can begin with it; nil before that was decided.
  private(set) var isRandomAccessPoint: Bool?
  /// Where it begins in the base class's frame, in bytes.
  private(set) var start = 0
  /// Its size in the output in bytes, without what is inserted.
  var outputSize = 0
  /// The timestamps that it has or was given, and its flags.
  var attributes = Buffer.Attributes()
  /// The DTS derived for it because upstream gave none, in nanoseconds of upstream's segment. The first ones may be
  /// below 0: the outgoing segment is shifted.
  var rebuiltDecodingTime: Int64?

  /// Another one was found, of which only ``scanned`` is known. Times and flags are set later.
  mutating func begin() {
    sei = SEIContent()
    recoveryPoint = nil
    isOrderKnown = false
    isAnnounced = false
    isRandomAccessPoint = nil
    rebuiltDecodingTime = nil
    start = 0
  }

  /// The caps are checked for it.
  mutating func announce() { isAnnounced = true }

  /// Its picture order is read. Returns whether it was before, when too little data was here.
  mutating func readOrder() -> Bool {
    defer { isOrderKnown = true }
    return isOrderKnown
  }

  /// It was decided whether decoding can begin with it.
  mutating func decide(isRandomAccessPoint: Bool) { self.isRandomAccessPoint = isRandomAccessPoint }

  /// Begins its description with what upstream gave it.
  mutating func describe(by upstream: Buffer.Attributes) { attributes = upstream }

  /// It is pushed unchanged, after others of the same frame.
  mutating func follow(at start: Int) {
    self.start = start
    outputSize = scanned.end
  }

  /// Sets the buffer flags that its contents call for, beside those from upstream.
  mutating func setFlags(isRandomAccessPoint: Bool, isDiscontinuous: Bool) {
    var flags = attributes.flags
    flags.remove([.marker, .header, .deltaUnit, .droppable])
    let contents = scanned.contents
    if !isRandomAccessPoint { flags.insert(.deltaUnit) }
    if !contents.isDisjoint(with: .headers) { flags.insert(.header) }
    if contents.contains(.accessUnitEnd) { flags.insert(.marker) }
    if contents.contains(.slice), !contents.contains(.reference) { flags.insert(.droppable) }
    if contents.contains(.damaged) { flags.insert(.corrupted) }
    if sei.isFirstView { flags.insert(.firstInBundle) }
    if isDiscontinuous { flags.insert(.discontinuity) }
    flags.formUnion(interlaceFlags)
    attributes.flags = flags
  }

  /// Whether the first slice of a picture is in it.
  var beginsPicture: Bool { scanned.contents.contains(.pictureStart) }
  /// Whether the first slice of an IDR picture is in it.
  var beginsSequence: Bool { scanned.contents.isSuperset(of: [.idr, .pictureStart]) }
  /// Whether it is a NAL unit with a later slice of a picture.
  var continuesPicture: Bool { scanned.contents.contains(.slice) && !beginsPicture }
}
