// SPDX-License-Identifier: MPL-2.0
import H26x

/// Where access units enter a session: they are numbered and read, and what has to go before each of them into the codec
/// is kept until it does.
struct SessionInput {
  private var inspector: any SessionInspector
  /// The number of the next access unit, from 0.
  private(set) var nextIndex: UInt64 = 0
  /// The last picture that began a coded video sequence.
  private(set) var epoch: UInt64 = 0
  /// One has come since the codec last started from nothing.
  private(set) var followsSequenceStart = false
  /// Parameter sets and the like that go before the next access unit: they came beside the stream, or with one that the
  /// codec does not get.
  private var carriedOver: [UInt8] = []

  init(_ inspector: any SessionInspector) { self.inspector = inspector }

  /// All parameter sets in force, packaged as access units are.
  var parameterSets: [UInt8] { inspector.parameterSets }
  /// Where references are followed from since an intra picture; nil when they are not.
  var followsReferencesFrom: UInt64? { inspector.followsReferencesFrom }

  /// Parameter sets that the codec has been opened with.
  mutating func insert(_ nalUnits: [[UInt8]]) { inspector.insert(parameterSets: nalUnits) }

  /// Parameter sets that have come beside the stream since.
  mutating func accept(_ nalUnits: [[UInt8]]) {
    inspector.insert(parameterSets: nalUnits)
    carriedOver = inspector.parameterSets
  }

  /// Reads the next access unit, before it is numbered.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> AccessUnitSummary {
    inspector.inspect(accessUnit, index: nextIndex)
  }

  /// What reading this access unit next would tell.
  func lookAhead(_ accessUnit: Span<UInt8>) -> AccessUnitSummary {
    var lookahead = inspector
    return lookahead.inspect(accessUnit, index: nextIndex)
  }

  /// Numbers the access unit that was read.
  mutating func number() -> UInt64 {
    defer { nextIndex += 1 }
    return nextIndex
  }

  /// What goes before an access unit into the codec.
  ///
  /// - Parameter sets: parameter sets that the codec has not seen, besides what was carried over.
  mutating func takePrefix(for summary: AccessUnitSummary, sets: [UInt8] = []) -> [UInt8] {
    defer { carriedOver = [] }
    return carriedOver + sets + summary.standIns
  }

  /// The codec does not get this access unit. What it brings besides its picture comes with the next one.
  mutating func carryOver(_ summary: AccessUnitSummary) {
    if summary.changesParameterSets { carriedOver = inspector.parameterSets }
    if summary.endsSequence { carriedOver += inspector.endOfSequence }
  }

  /// The picture goes into the codec and begins a coded video sequence.
  mutating func beginSequence(at index: UInt64) {
    epoch = index
    followsSequenceStart = true
  }

  /// The next picture need not follow the last one.
  ///
  /// - Parameter keepsReferences: what was decoded can still be referred to.
  mutating func reset(keepsReferences: Bool) { inspector.reset(keepsReferences: keepsReferences) }

  /// Nothing that was decoded can be referred to any more.
  mutating func forgetDecoded() {
    followsSequenceStart = false
    inspector.forgetReferences()
  }

  /// Follows references from intra picture `index` on, which is the next one.
  mutating func followReferences(from index: UInt64) { inspector.followReferences(from: index) }

  /// Takes the next picture, in decoding order and once only: the access unit before which it refers to nothing.
  mutating func referencesStart(of unit: Submission) -> UInt64? { inspector.referencesStart(of: unit) }

  /// The picture of an access unit did not come about: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64) { inspector.pictureIsMissing(index) }
}
