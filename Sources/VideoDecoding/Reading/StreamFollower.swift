// SPDX-License-Identifier: MPL-2.0
import H26x

/// The treatment of a picture, given which pictures are skipped.
enum PictureUse {
  /// It is decoded, unless libavcodec skips it.
  case decoded
  /// It is decoded because others refer to it, but not shown.
  case hidden
  /// The codec does not get it.
  case skipped
}

/// Follows a stream from access unit to access unit for the session: one type for each codec.
protocol StreamFollower {
  /// All parameter sets so far, packaged as access units are. Shared, not copied, by all that keep it.
  var parameterSets: [UInt8] { get }
  /// The intra picture from which references are followed; nil when they are not.
  var followsReferencesFrom: UInt64? { get }

  /// Takes parameter sets from outside the stream. Ignores unreadable ones.
  mutating func insert(parameterSets nalUnits: [[UInt8]])
  /// Reads an access unit for which the session's user has not done so.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription
  /// Takes the next access unit, number `index`, and its contents. Ignores unreadable contents, which libavcodec
  /// handles.
  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, index: UInt64)
    -> DecodingSummary
  /// Whether the last inspected access unit only repeats the picture of the previous access unit. It must then not be
  /// decoded again.
  ///
  /// - Parameter last: the access unit before.
  func isRepeated(_ accessUnit: Span<UInt8>, after last: Span<UInt8>) -> Bool
  /// The treatment of a picture, given which pictures are skipped; a second field is treated as the first.
  func use(of summary: DecodingSummary, skipping skipFrames: SessionConfiguration.SkipFrames) -> PictureUse
  /// The next picture need not continue the last one.
  ///
  /// - Parameter keepsReferences: whether later pictures may still refer to decoded ones.
  mutating func reset(keepsReferences: Bool)
  /// Pictures before the next one cannot be referred to any more.
  mutating func forgetReferences()
  /// Follows references from the next picture on, intra picture `index`.
  mutating func followReferences(from index: UInt64)
  /// Takes the next picture, in decoding order and once only.
  ///
  /// - Returns: the access unit before which it refers to nothing; nil if unknown.
  mutating func referencesStart(of accessUnit: Span<UInt8>, _ summary: DecodingSummary) -> UInt64?
  /// An access unit gave no picture: nothing can refer to it.
  mutating func pictureIsMissing(_ index: UInt64)
  /// An end of sequence NAL unit, packaged as access units are.
  var endOfSequence: [UInt8] { get }
}
