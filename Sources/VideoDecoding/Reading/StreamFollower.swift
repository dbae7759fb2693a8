// SPDX-License-Identifier: MPL-2.0
import H26x

/// Follows a stream from access unit to access unit for the session: one type for each codec.
protocol StreamFollower {
  /// All parameter sets so far, packaged as access units are. Shared, not copied, by all that keep it.
  var parameterSets: [UInt8] { get }
  /// The intra picture from which references are followed; nil when they are not.
  var followsReferencesFrom: UInt64? { get }

  /// Takes parameter sets from outside the stream. Unreadable ones are ignored.
  mutating func insert(parameterSets nalUnits: [[UInt8]])
  /// Reads an access unit for which the session's user has not done so.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription
  /// Takes the next access unit, number `index`, and what was read of it. Ignores what is unreadable: libavcodec decides
  /// about that.
  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, index: UInt64)
    -> DecodingSummary
  /// Whether the access unit that was inspected last holds nothing but the picture of the one before once more, which
  /// must not be decoded again.
  ///
  /// - Parameter last: the access unit before.
  func isRepeated(_ accessUnit: Span<UInt8>, after last: Span<UInt8>) -> Bool
  /// The next picture need not continue the last one.
  ///
  /// - Parameter keepsReferences: what was decoded can still be referred to.
  mutating func reset(keepsReferences: Bool)
  /// Pictures before the next one cannot be referred to any more.
  mutating func forgetReferences()
  /// Follows references from the next picture on, intra picture `index`.
  mutating func followReferences(from index: UInt64)
  /// Takes the next picture, in decoding order and once only.
  ///
  /// - Returns: the access unit before which it refers to nothing; nil where that is not known.
  mutating func referencesStart(of submission: Submission) -> UInt64?
  /// An access unit gave no picture: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64)
  /// An end of sequence NAL unit, packaged as access units are.
  var endOfSequence: [UInt8] { get }
}
