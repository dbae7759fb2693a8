// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Where access units enter a session: numbers and inspects them, and keeps what has to go in front of each of them
/// into the codec.
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
  /// Parameter sets and the like to go in front of the next access unit: from outside the stream, or from an access
  /// unit that the codec does not get.
  private var carriedOver: [UInt8] = []
  private var display = DisplayTracker()

  /// Replaces start codes where lengths should be.
  private var repackager: Repackager
  /// Of length prefixes; nil for a byte stream.
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
    repackager = Repackager(codec: codec)
    self.lengthSize = lengthSize
  }

  /// An access unit with lengths in place of start codes; nil when it has none of these.
  mutating func repaired(_ accessUnit: Span<UInt8>) -> [UInt8]? {
    lengthSize.flatMap { repackager.repaired(accessUnit, lengthSize: $0) }
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

  /// Takes the next access unit, and what was read of it, before it is numbered.
  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> DecodingSummary {
    follower.inspect(accessUnit, description, index: nextIndex)
  }

  /// Adds to the request for an access unit how it is to be displayed by its SEI messages.
  mutating func describe(
    _ request: DecodeRequest, _ accessUnit: Span<UInt8>, _ description: AccessUnitDescription
  ) -> DecodeRequest {
    _ = description.update(&display, accessUnit)
    var request = request
    request.display = display.display
    return request
  }

  /// Why the codec does not get the access unit that was inspected last; nil when it does.
  ///
  /// - Parameter last: what the codec got last; nil for nothing.
  func reasonToDrop(
    _ accessUnit: Span<UInt8>, _ summary: DecodingSummary, after last: Packet?,
    skipping skipFrames: SessionConfiguration.SkipFrames
  ) -> DropReason? {
    if let last, follower.isRepeated(accessUnit, after: last.bytes) { return .noPicture }
    if summary.isSkipped { return .noReference }
    return skipFrames == .nonReference && summary.isDiscardable ? .skipped : nil
  }

  /// Why an access unit is not of a byte stream: it does not begin with a start code (Annex B). nil when it is.
  func packagingFault(of accessUnit: Span<UInt8>) -> String? {
    guard lengthSize == nil else { return nil }
    var zeros = 0
    while zeros < accessUnit.count, accessUnit[zeros] == 0 { zeros += 1 }
    guard zeros < accessUnit.count, zeros < 2 || accessUnit[zeros] != 1 else { return nil }
    return "it does not begin with a start code: samples of MP4 need a format with nalLengthSize"
  }

  /// What `inspect` would return for this access unit.
  func lookAhead(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> DecodingSummary {
    var lookahead = follower
    return lookahead.inspect(accessUnit, description, index: nextIndex)
  }

  /// Numbers the access unit that was inspected.
  mutating func number() -> UInt64 {
    defer { nextIndex += 1 }
    return nextIndex
  }

  /// What is sent to the codec in front of an access unit.
  ///
  /// - Parameter sets: further parameter sets that the codec has not got.
  mutating func takePrefix(for summary: DecodingSummary, sets: [UInt8] = []) -> [UInt8] {
    defer { carriedOver = [] }
    return carriedOver + sets + summary.standIns
  }

  /// The codec does not get this access unit: what it brings besides its picture is sent with the next one.
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
  /// - Parameter keepsReferences: what was decoded can still be referred to.
  mutating func reset(keepsReferences: Bool) { follower.reset(keepsReferences: keepsReferences) }

  /// Nothing decoded so far can be referred to any more.
  mutating func forgetDecoded() {
    followsSequenceStart = false
    follower.forgetReferences()
  }

  /// Follows references from the next picture on, intra picture `index`.
  mutating func followReferences(from index: UInt64) { follower.followReferences(from: index) }

  /// Takes the next picture, in decoding order and once only. Returns the access unit before which it refers to
  /// nothing.
  mutating func referencesStart(of submission: Submission) -> UInt64? {
    follower.referencesStart(of: submission)
  }

  /// The ledger's entry of the next picture.
  ///
  /// - Parameters:
  ///   - start: where decoding began.
  ///   - recoveryStart: where the recovery began that the picture completes.
  mutating func entry(for submission: Submission, start: StartGate.Start?, recoveryStart: UInt64?) -> LedgerEntry {
    let summary = submission.summary
    var entry = LedgerEntry(
      submission, standsAlone: followsSequenceStart || summary.completesRecovery || summary.isIntra,
      sequenceStart: sequenceStart, recoveryStart: recoveryStart, start: start ?? .marked)
    entry.referencesSince = referencesStart(of: submission)
    return entry
  }

  /// An access unit gave no picture: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64) { follower.pictureIsMissing(index) }
}
