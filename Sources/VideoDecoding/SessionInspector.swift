// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads of each access unit what the session decides by, and keeps the parameter sets in force: one for each codec.
protocol SessionInspector {
  /// All parameter sets in force, packaged as access units are. Shared, not copied, by all who remember it.
  var parameterSets: [UInt8] { get }
  /// Where references are followed from since an intra picture; nil when they are not.
  var followsReferencesFrom: UInt64? { get }

  /// Takes up parameter sets that come beside the stream. Those that cannot be read are left out.
  mutating func insert(parameterSets nalUnits: [[UInt8]])
  /// Reads the next access unit, whose number is `index`. What cannot be read is left out: libavcodec has the last word
  /// on it.
  mutating func inspect(_ accessUnit: Span<UInt8>, index: UInt64) -> AccessUnitSummary
  /// The next picture need not follow the last one.
  ///
  /// - Parameter keepsReferences: what was decoded can still be referred to.
  mutating func reset(keepsReferences: Bool)
  /// Pictures before the next one cannot be referred to any more.
  mutating func forgetReferences()
  /// Follows references from intra picture `index` on, which is the next one.
  mutating func followReferences(from index: UInt64)
  /// Takes the next picture, in decoding order and once only.
  ///
  /// - Returns: the access unit before which it refers to nothing; nil where that is not known.
  mutating func referencesStart(of unit: Submission) -> UInt64?
  /// The picture of an access unit did not come about: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64)
  /// An end of sequence, packaged as access units are.
  var endOfSequence: [UInt8] { get }
}
