// SPDX-License-Identifier: MPL-2.0
@testable import VideoDecoding

/// An follower that returns the summary it was given, and records the calls.
struct RecordingFollower: StreamFollower {
  final class Record {
    var calls: [String] = []
    var summary = DecodingSummary()
  }

  let record: Record
  var parameterSets: [UInt8] = []
  var followsReferencesFrom: UInt64?
  let endOfSequence: [UInt8] = [10]

  init(_ record: Record) { self.record = record }

  mutating func insert(parameterSets nalUnits: [[UInt8]]) { parameterSets += nalUnits.flatMap { $0 } }

  func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription {
    var follower = H264StreamFollower(lengthSize: nil)
    return follower.read(accessUnit)
  }

  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, index: UInt64)
    -> DecodingSummary
  {
    record.calls.append("inspect \(index)")
    parameterSets.append(accessUnit[0])
    return record.summary
  }

  func isRepeated(_ accessUnit: Span<UInt8>, after last: Span<UInt8>) -> Bool { false }
  func use(of summary: DecodingSummary, skipping skipFrames: SessionConfiguration.SkipFrames) -> PictureUse {
    skipFrames == .nonReference && summary.isDiscardable ? .skipped : .decoded
  }
  mutating func reset(keepsReferences: Bool) { record.calls.append("reset \(keepsReferences)") }
  mutating func forgetReferences() { followsReferencesFrom = nil }
  mutating func followReferences(from index: UInt64) { followsReferencesFrom = index }
  mutating func referencesStart(of accessUnit: Span<UInt8>, _ summary: DecodingSummary) -> UInt64? {
    UInt64(accessUnit.count) + 100
  }
  mutating func pictureIsMissing(_ index: UInt64) { record.calls.append("missing \(index)") }
}
