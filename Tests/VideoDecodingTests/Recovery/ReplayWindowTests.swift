// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct ReplayWindowTests: StageBuilders {
  @Test func replayBeginsAtTheLatestStartThatIsOutput() {
    var replay = ReplayWindow(byteLimit: 1000, countLimit: 100)
    replay.append(0, byteCount: 10, start: nil)
    #expect(!replay.isUsable)
    replay.append(1, byteCount: 10, start: .init(parameterSets: [1], reorderDepth: 2))
    replay.append(2, byteCount: 10, start: nil)
    replay.append(3, byteCount: 10, start: .init(parameterSets: [3], reorderDepth: 4))
    replay.append(4, byteCount: 10, start: nil)
    #expect(replay.firstIndex == 1 && replay.count == 4)
    #expect(replay.start?.parameterSets == [1] && replay.start?.reorderDepth == 2)
    replay.outputPicture(1)
    replay.outputPicture(2)
    replay.outputPicture(4)
    #expect(replay.count == 4)
    replay.outputPicture(3)
    #expect(replay.firstIndex == 3 && replay.count == 2)
    #expect(replay.start?.parameterSets == [3] && replay.start?.reorderDepth == 4)
    replay.removeAll()
    #expect(!replay.isUsable && replay.start == nil)
  }

  @Test func boundsTheReplay() {
    let start = ReplayWindow.Start(parameterSets: [], reorderDepth: 0)
    var byCount = ReplayWindow(byteLimit: 1000, countLimit: 3)
    for index in 0..<3 { byCount.append(UInt64(index), byteCount: 1, start: index == 0 ? start : nil) }
    #expect(byCount.count == 3)
    byCount.append(3, byteCount: 1, start: nil)
    #expect(!byCount.isUsable)
    var byBytes = ReplayWindow(byteLimit: 100, countLimit: 100)
    byBytes.append(0, byteCount: 60, start: start)
    byBytes.append(1, byteCount: 40, start: start)
    #expect(byBytes.count == 2)
    // Over the limit the youngest start has to do.
    byBytes.append(2, byteCount: 1, start: nil)
    #expect(byBytes.firstIndex == 1 && byBytes.count == 2)
    byBytes.append(3, byteCount: 59, start: nil)
    #expect(byBytes.count == 3)
    byBytes.append(4, byteCount: 1, start: nil)
    #expect(!byBytes.isUsable)
  }

  /// A codec that begins at a CRA picture leaves out the pictures that lead it: until these are output, the replay
  /// begins at the start before.
  @Test func replayWaitsForLeadingPictures() {
    func window() -> ReplayWindow {
      var replay = ReplayWindow(byteLimit: 1000, countLimit: 100)
      replay.append(0, byteCount: 10, start: .init(parameterSets: [], reorderDepth: 0))
      replay.append(1, byteCount: 10, start: nil)
      replay.append(2, byteCount: 10, start: .init(parameterSets: [], reorderDepth: 0, losesLeading: true))
      return replay
    }
    // The CRA picture is output before what leads it has come, as when the codec is drained.
    var drained = window()
    drained.outputPicture(2)
    #expect(drained.firstIndex == 0 && drained.count == 3)
    drained.append(3, byteCount: 10, start: nil, isLeading: true)
    #expect(drained.firstIndex == 0 && drained.count == 4)
    drained.append(4, byteCount: 10, start: nil)
    #expect(drained.firstIndex == 2 && drained.count == 3)
    // It comes out in its turn.
    var ordinary = window()
    ordinary.append(3, byteCount: 10, start: nil, isLeading: true)
    ordinary.append(4, byteCount: 10, start: nil)
    #expect(ordinary.count == 5)
    ordinary.outputPicture(2)
    #expect(ordinary.firstIndex == 2 && ordinary.count == 3)
  }

  @Test func aReplayIsDueOnceAfterADrain() {
    var replay = ReplayWindow(byteLimit: 1000, countLimit: 100)
    replay.codecWasDrained()
    let isDueWithoutEntries = replay.takeDue()
    #expect(!isDueWithoutEntries)
    replay.append(0, byteCount: 10, start: .init(parameterSets: [], reorderDepth: 0))
    replay.codecWasDrained()
    let answers = (replay.takeDue(), replay.takeDue())
    #expect(answers == (true, false))
    replay.codecWasDrained()
    replay.removeAll()
    let isDueAfterRemoval = replay.takeDue()
    #expect(!isDueAfterRemoval)
  }
}
