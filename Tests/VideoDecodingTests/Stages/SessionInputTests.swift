// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct SessionInputTests: StageBuilders {
  private let record = RecordingFollower.Record()
  private let first: [UInt8] = [1]
  private let second: [UInt8] = [2]
  private let third: [UInt8] = [3]
  private let fifth: [UInt8] = [5]

  @Test func numbersInspectedAccessUnits() {
    var input = SessionInput(RecordingFollower(record))
    _ = input.inspect(first.span, input.read(first.span))
    // A splice is inspected twice.
    _ = input.inspect(second.span, input.read(second.span))
    var numbers = [input.number()]
    _ = input.inspect(third.span, input.read(third.span))
    numbers.append(input.number())
    #expect(numbers == [0, 1] && input.nextIndex == 2)
    #expect(record.calls == ["inspect 0", "inspect 0", "inspect 1"])
  }

  @Test func lookingAheadChangesNothing() {
    var input = SessionInput(RecordingFollower(record))
    record.summary.isIntra = true
    #expect(input.lookAhead(first.span, input.read(first.span)).isIntra)
    #expect(input.parameterSets.isEmpty && input.nextIndex == 0 && record.calls == ["inspect 0"])
  }

  /// What the codec was opened with need not be sent to it; what came later goes in front of the next access unit,
  /// once.
  @Test func insertsOutOfBandParameterSetsBeforeTheNextAccessUnit() {
    var input = SessionInput(RecordingFollower(record))
    input.insert([[1], [2]])
    #expect(input.parameterSets == [1, 2])
    var prefixes = [input.takePrefix(for: summary())]
    input.accept([[3]])
    let next = summary { $0.standIns = [9] }
    prefixes.append(input.takePrefix(for: next, sets: [7, 8]))
    prefixes.append(input.takePrefix(for: next))
    #expect(prefixes == [[], [1, 2, 3, 7, 8, 9], [9]])
  }

  /// Whether a dropped access unit has new parameter sets or ends the sequence, and what goes with the next one.
  @Test(
    arguments: [
      (false, false, []), (true, false, [5]), (false, true, [10]), (true, true, [5, 10]),
    ] as [(Bool, Bool, [UInt8])])
  func carriesParameterSetsAndEndsOverFromDroppedAccessUnits(_ changes: Bool, _ ends: Bool, _ prefix: [UInt8]) {
    var input = SessionInput(RecordingFollower(record))
    _ = input.inspect(fifth.span, input.read(fifth.span))
    input.carryOver(
      summary {
        $0.changesParameterSets = changes
        $0.endsSequence = ends
      })
    // Another dropped one does not lose it.
    input.carryOver(summary())
    let taken = [input.takePrefix(for: summary()), input.takePrefix(for: summary())]
    #expect(taken == [prefix, []])
  }

  @Test func followsSequences() {
    var input = SessionInput(RecordingFollower(record))
    #expect(input.sequenceStart == 0 && !input.followsSequenceStart)
    input.beginSequence(at: 4)
    #expect(input.sequenceStart == 4 && input.followsSequenceStart)
    input.followReferences(from: 5)
    #expect(input.followsReferencesFrom == 5)
    input.forgetDecoded()
    #expect(input.sequenceStart == 4 && !input.followsSequenceStart && input.followsReferencesFrom == nil)
  }

  @Test func notifiesTheFollower() throws {
    var input = SessionInput(RecordingFollower(record))
    input.reset(keepsReferences: true)
    input.reset(keepsReferences: false)
    input.pictureIsMissing(3)
    #expect(record.calls == ["reset true", "reset false", "missing 3"])
    var entry = try waiting(2)
    input.complete(&entry)
    #expect(entry.referencesSince == 110 && !entry.standsAlone && entry.sequenceStart == 0)
  }
}
