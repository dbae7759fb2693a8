// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The entry of access units into a session. It numbers and inspects them, and keeps the NAL units that must precede
/// each of them into the codec.
struct SessionInput {
  private var follower: any StreamFollower
  /// The number of the next access unit, from 0.
  private(set) var nextIndex: UInt64 = 0
  /// The number of the access unit that was inspected last.
  var youngestIndex: UInt64 { nextIndex &- 1 }
  /// The last picture that began a coded video sequence.
  private(set) var sequenceStart: UInt64 = 0
  /// A sequence has begun since the codec was last reset.
  private(set) var followsSequenceStart = false
  /// Parameter sets and similar NAL units to put in front of the next access unit. They come from outside the stream,
  /// or from an access unit that the codec does not get.
  private var carriedOver: [UInt8] = []
  /// Whether others may refer to the last picture, if that was skipped; nil if it was not.
  private var skippedReference: Bool?

  /// For access units that the caller has not read.
  private var repair: StartCodeRepair
  /// The size of length prefixes; nil for a byte stream.
  private let lengthSize: NALLengthSize?

  /// Begins with the parameter sets with which the codec is opened.
  init(_ codec: FormatDescription.Codec, _ setup: StreamSetup, verifiesPictureHash: Bool) {
    self.init(
      codec.sessionCodec.makeFollower(lengthSize: setup.nalLengthSize, verifiesPictureHash: verifiesPictureHash),
      codec: codec, lengthSize: setup.nalLengthSize)
    insert(setup.parameterSets)
  }

  init(_ follower: any StreamFollower, codec: FormatDescription.Codec = .h264, lengthSize: NALLengthSize? = nil) {
    self.follower = follower
    repair = StartCodeRepair(codec: codec, lengthSize: lengthSize)
    self.lengthSize = lengthSize
  }

  /// An access unit with lengths in place of start codes; nil when it has none of these.
  mutating func repaired(_ accessUnit: Span<UInt8>) -> [UInt8]? { repair.repaired(accessUnit) }

  /// The number of decodable bytes of an access unit. These are its NAL units before a zero or inconsistent length,
  /// for which libavcodec refuses the whole access unit.
  func soundByteCount(of accessUnit: Span<UInt8>) -> Int {
    guard let lengthSize else { return accessUnit.count }
    var end = 0
    _ = NALPackaging.lengthPrefixed(lengthSize).forEachNALUnit(of: accessUnit) { end = $0.upperBound }
    return end
  }

  /// Whether the bytes after the last sound NAL unit may be a truncated one.
  func mayBeNALUnit(_ rest: Span<UInt8>) -> Bool {
    lengthSize.map { LengthPrefixed.mayBeTruncatedNALUnit(rest, lengthSize: $0) } ?? false
  }

  /// Reads an access unit for which the caller has not done so.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription { follower.read(accessUnit) }

  /// All parameter sets so far, packaged as access units are.
  var parameterSets: [UInt8] { follower.parameterSets }
  /// The intra picture from which references are followed; nil when they are not.
  var followsReferencesFrom: UInt64? { follower.followsReferencesFrom }

  /// Takes parameter sets with which the codec was opened.
  mutating func insert(_ nalUnits: [[UInt8]]) { follower.insert(parameterSets: nalUnits) }

  /// Takes parameter sets that came later, from outside the stream.
  mutating func accept(_ nalUnits: [[UInt8]]) {
    insert(nalUnits)
    carriedOver = follower.parameterSets
  }

  /// Takes the next access unit, and its contents, before it is numbered.
  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> DecodingSummary {
    follower.inspect(accessUnit, description, index: nextIndex)
  }

  /// The reason that the codec does not get the access unit that was inspected last; nil if it does.
  ///
  /// - Parameters:
  ///   - summary: marked if the picture is not shown, or lacks a field.
  ///   - last: the packet that the codec got last; nil for none.
  ///   - isLeftOut: whether the picture is skipped, regardless of its kind.
  mutating func reasonToDrop(
    _ accessUnit: Span<UInt8>, _ summary: inout DecodingSummary, after last: Packet?,
    skipping skipFrames: SessionConfiguration.SkipFrames, isLeftOut: Bool = false
  ) -> DropReason? {
    if let last, follower.isRepeated(accessUnit, after: last.bytes) { return .noPicture }
    if summary.isSkipped, !isLeftOut { return .noReference }
    guard summary.nalUnitType != nil else { return nil }
    var use = isLeftOut ? .skipped : follower.use(of: summary, skipping: skipFrames)
    if summary.isSecondField {
      // The skipped kinds of pictures may change between fields, and a field that is referred to may follow one that
      // is not.
      switch skippedReference {
      case nil: use = .decoded
      case false? where !summary.isDiscardable && use != .skipped:
        summary.isSecondField = false
        summary.lacksFirstField = true
      case .some: use = .skipped
      }
    }
    skippedReference = use == .skipped ? !summary.isDiscardable : nil
    summary.isHidden = use == .hidden
    return use == .skipped ? .skipped : nil
  }

  /// The reason that an access unit is not from a byte stream: it does not begin with a start code (Annex B). nil if
  /// it is.
  func packagingFault(of accessUnit: Span<UInt8>) -> String? {
    guard lengthSize == nil else { return nil }
    var zeros = 0
    while zeros < accessUnit.count, accessUnit[zeros] == 0 { zeros += 1 }
    guard zeros < accessUnit.count, zeros < 2 || accessUnit[zeros] != 1 else { return nil }
    return "it does not begin with a start code: samples of MP4 need a format with nalLengthSize"
  }

  /// The value that `inspect` would return for this access unit.
  func lookAhead(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> DecodingSummary {
    var lookahead = follower
    return lookahead.inspect(accessUnit, description, index: nextIndex)
  }

  /// Numbers the access unit that was inspected.
  mutating func number() -> UInt64 {
    defer { nextIndex += 1 }
    return nextIndex
  }

  /// The NAL units to send to the codec in front of an access unit.
  ///
  /// - Parameter sets: further parameter sets that the codec does not have.
  mutating func takePrefix(for summary: DecodingSummary, sets: [UInt8] = []) -> [UInt8] {
    defer { carriedOver = [] }
    return carriedOver + sets + summary.standIns
  }

  /// The codec does not get this access unit: its contents besides the picture are sent with the next one.
  mutating func carryOver(_ summary: DecodingSummary) {
    if summary.changesParameterSets { carriedOver = follower.parameterSets }
    if summary.endsSequence { carriedOver += follower.endOfSequence }
  }

  /// The picture goes into the codec and begins a coded video sequence.
  mutating func beginSequence(at index: UInt64) {
    sequenceStart = index
    followsSequenceStart = true
  }

  /// The next picture need not continue the last one.
  ///
  /// - Parameter keepsReferences: whether later pictures may still refer to decoded ones.
  mutating func reset(keepsReferences: Bool) { follower.reset(keepsReferences: keepsReferences) }

  /// Nothing decoded so far can be referred to any more.
  mutating func forgetDecoded() {
    followsSequenceStart = false
    follower.forgetReferences()
  }

  /// Follows references from the next picture on, intra picture `index`.
  mutating func followReferences(from index: UInt64) { follower.followReferences(from: index) }

  /// Completes the entry of the next access unit for the codec, in decoding order and once only.
  mutating func complete(_ entry: inout LedgerEntry) {
    entry.standsAlone = followsSequenceStart || entry.summary.completesRecovery || entry.summary.isIntra
    entry.sequenceStart = sequenceStart
    guard let packet = entry.packet else { return }
    entry.referencesSince = follower.referencesStart(of: packet.bytes, entry.summary)
  }

  /// An access unit gave no picture: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64) { follower.pictureIsMissing(index) }
}
