// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct StartGateTests: StageBuilders {
  @Test(arguments: [
    (DecodingSummary.RandomAccess.idr, StartGate.Start.marked), (.recoveryPoint(frameCount: 5), .gradual),
    (.cra, .marked),
    (.intra, .intra),
  ])
  func opensAtARandomAccessPoint(_ randomAccess: DecodingSummary.RandomAccess, _ start: StartGate.Start) throws {
    var gate = StartGate(SessionConfiguration())
    #expect(gate.start == nil && !gate.isHolding && !gate.isOverdue)
    #expect(gate.admit(summary(), index: 0) == .waits)
    gate.hold(try waiting(0))
    #expect(gate.isHolding && gate.admit(summary { $0.randomAccess = randomAccess }, index: 1) == .begins)
    gate.release()
    #expect(gate.start == start && !gate.isHolding)
    // Pictures that are shown before the first picture lead it.
    #expect(gate.isLeading(2) && !gate.isLeading(1))
    gate.outputPicture(2)
    #expect(gate.isLeading(2))
    gate.outputPicture(1)
    #expect(!gate.isLeading(2))
    #expect(gate.admit(summary(), index: 3) == .passes)
    #expect(gate.admit(summary { $0.randomAccess = .idr }, index: 4) == .passes && gate.start == .marked)
    gate.close()
    #expect(gate.start == nil && gate.admit(summary(), index: 5) == .waits)
  }

  @Test func opensWhenForced() throws {
    var gate = StartGate(.with { $0.startPatience = .seconds(2) })
    let isForcedWithoutPictures = gate.force()
    #expect(!isForcedWithoutPictures && gate.start == nil)
    gate.hold(try waiting(0, nalUnitType: 1, time: .seconds(7)))
    gate.hold(try waiting(1, time: .milliseconds(5500)))
    gate.hold(try waiting(2))
    #expect(!gate.isOverdue)
    gate.hold(try waiting(3, time: .milliseconds(7500)))
    #expect(gate.isOverdue)
    let isForced = gate.force()
    #expect(isForced && gate.start == .forced && !gate.isHolding && !gate.isOverdue)
    // Nothing else is to be waited for in such a stream.
    gate.lose()
    #expect(!gate.isLost && gate.start == .forced)
    gate.close()
    #expect(gate.start == .forced)
    gate.reset()
    #expect(gate.start == nil)
  }

  @Test func waitsForARandomAccessPointAfterALoss() {
    var gate = StartGate(SessionConfiguration())
    _ = gate.admit(summary { $0.randomAccess = .idr }, index: 0)
    gate.lose()
    #expect(gate.isLost && gate.admit(summary(), index: 1) == .isLost)
    gate.close()
    gate.reset()
    #expect(gate.isLost)
    #expect(gate.admit(summary { $0.isIntra = true }, index: 2) == .begins && gate.start == .intra && !gate.isLost)
  }

  /// Decoding does not begin with an access unit that the codec does not get.
  @Test(arguments: [DecodingSummary.RandomAccess.intra, .cra]) func staysClosedForAccessUnitsThatTheCodecDoesNotGet(
    _ randomAccess: DecodingSummary.RandomAccess
  ) {
    let dropped = summary {
      $0.randomAccess = randomAccess
      $0.isIntra = true
    }
    var gate = StartGate(SessionConfiguration())
    #expect(gate.admit(dropped, index: 0, isDropped: true) == .waits && gate.isClosed)
    #expect(gate.admit(dropped, index: 1) == .begins)
    #expect(gate.admit(dropped, index: 2, isDropped: true) == .passes)
    gate.lose()
    #expect(gate.admit(dropped, index: 3, isDropped: true) == .isLost && gate.isLost)
  }

  /// Times of the application that are further apart than any `Duration`.
  @Test func acceptsTimesThatAreFarApart() throws {
    var gate = StartGate(SessionConfiguration())
    gate.hold(try waiting(0, time: Duration(attoseconds: .min)))
    #expect(!gate.isOverdue)
    gate.hold(try waiting(1, time: Duration(attoseconds: .max)))
    #expect(gate.isOverdue)
  }

  /// Waiting ends with the access unit that reaches a limit.
  @Test(arguments: [(3, 31, true), (4, 31, false), (4, 30, true), (2, 31, true)])
  func boundsTheWait(_ countLimit: Int, _ byteLimit: Int, _ isOverdue: Bool) throws {
    var gate = StartGate(
      .with {
        $0.replayCountLimit = countLimit
        $0.replayByteLimit = byteLimit
      })
    for index in 0..<3 { gate.hold(try waiting(UInt64(index))) }
    #expect(gate.isOverdue == isOverdue)
    // Pictures that were taken out count no more.
    gate.release()
    gate.hold(try waiting(3))
    #expect(!gate.isOverdue)
  }

  /// What decoding began at is waited for no longer once it cannot come.
  @Test(arguments: [0, 1, 2]) func forgetsAStartThatCannotComeAnymore(_ ending: Int) {
    var gate = StartGate(SessionConfiguration())
    _ = gate.admit(summary { $0.randomAccess = .idr }, index: 0)
    #expect(gate.isLeading(1))
    switch ending {
    case 0: gate.close()
    case 1: gate.reset()
    default: gate.lose()
    }
    #expect(!gate.isLeading(1) && gate.start == nil && gate.isLost == (ending == 2) && gate.isClosed == (ending != 2))
  }

  @Test func distinguishesHeldPicturesFromParameterSets() throws {
    var gate = StartGate(SessionConfiguration())
    gate.hold(try waiting(0))
    #expect(gate.isHolding && !gate.isHoldingPictures)
    gate.hold(try waiting(1, nalUnitType: 1))
    #expect(gate.isHoldingPictures)
    #expect(!gate.hasRecovered)
    gate.outputCorrectPicture()
    #expect(gate.hasRecovered)
    gate.forgetDecoded()
    #expect(!gate.hasRecovered)
  }
}
