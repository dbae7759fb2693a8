// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// An access unit, or a NAL unit where those are output one by one, on its way through the stages: what each of them
/// has returned about it.
struct ParsedAccessUnit<Codec: ParserCodec>: Sendable {
  /// The scanner's findings in it. Offsets become those in the new buffer if it is repackaged.
  var scanned = ScannedAccessUnit<Codec.SliceHeader>()
  /// The content of its SEI messages.
  private(set) var sei = SEIContent()
  /// Decoding may begin with it.
  private(set) var recoveryPoint: Codec.RecoveryPoint?
  /// Its picture order was read, if it has one.
  private var isOrderKnown = false
  /// The caps were checked for it.
  private(set) var isAnnounced = false
  /// Decoding can begin with it; nil before that was decided.
  private(set) var isRandomAccessPoint: Bool?
  /// The timestamps that it has or was given, and its flags, in upstream's segment.
  var attributes = Buffer.Attributes()
  /// The DTS derived for it because upstream gave none, in nanoseconds. The first ones may be below 0: the outgoing
  /// segment is shifted.
  var rebuiltDecodingTime: Int64?
  /// The same as ``attributes``, as the base class has completed them.
  var completed = Buffer.Attributes()
  /// The timestamps and flags with which it is output, in the outgoing segment.
  var outgoing = Buffer.Attributes()
  /// Its end, if the base class does not know its times.
  var position: ClockTime?

  /// Another one was found. Its memory is exchanged with the scanner's.
  mutating func begin(_ scanner: inout Codec.Scanner) {
    scanner.takeAccessUnit(&scanned)
    sei = SEIContent()
    recoveryPoint = nil
    isOrderKnown = false
    isAnnounced = false
    isRandomAccessPoint = nil
    rebuiltDecodingTime = nil
  }

  /// Has its SEI messages read. Returns whether what persists beyond it has changed.
  ///
  /// - Parameter sps: id of the SPS of its picture or, in front of its first slice, of the next picture.
  @inline(__always)
  mutating func readSEI(
    with reader: inout SEIReader<Codec>, _ bytes: Span<UInt8>, sps: SequenceParameterSetID?,
    _ scanner: borrowing Codec.Scanner, _ log: ElementLog
  ) -> Bool {
    reader.read(scanned, beginsSequence: beginsSequence, into: &sei, &recoveryPoint, bytes, sps: sps, scanner, log)
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

  /// Sets the flags that its contents call for beside those from upstream.
  mutating func describe(isRandomAccessPoint: Bool, isDiscontinuous: Bool) {
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
  /// The range of its first slice, if NAL units are listed.
  var firstSlice: Range<Int>? { scanned.nalUnits.first { $0.contents?.contains(.slice) == true }?.range }
  /// Whether it is a NAL unit with a later slice of a picture.
  var continuesPicture: Bool { scanned.contents.contains(.slice) && !beginsPicture }
}
