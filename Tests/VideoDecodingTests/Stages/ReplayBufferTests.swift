// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct ReplayBufferTests: StageBuilders {
  @Test func replayBeginsAtTheLatestStartThatIsOutput() throws {
    var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
    replay.append(try packet(10), index: 0, start: nil)
    #expect(!replay.isUsable)
    replay.append(try packet(10), index: 1, start: .init(parameterSets: [1], reorderDepth: 2))
    replay.append(try packet(10), index: 2, start: nil)
    replay.append(try packet(10), index: 3, start: .init(parameterSets: [3], reorderDepth: 4))
    replay.append(try packet(10), index: 4, start: nil)
    #expect(replay.entries.map(\.index) == [1, 2, 3, 4])
    #expect(replay.start?.parameterSets == [1] && replay.start?.reorderDepth == 2)
    replay.outputPicture(1)
    replay.outputPicture(2)
    replay.outputPicture(4)
    #expect(replay.entries.count == 4)
    replay.outputPicture(3)
    #expect(replay.entries.map(\.index) == [3, 4])
    #expect(replay.start?.parameterSets == [3] && replay.start?.reorderDepth == 4)
    replay.removeAll()
    #expect(!replay.isUsable && replay.start == nil)
  }

  @Test func boundsTheReplay() throws {
    let start = ReplayBuffer.Start(parameterSets: [], reorderDepth: 0)
    var byCount = ReplayBuffer(byteLimit: 1000, countLimit: 3)
    for index in 0..<3 { byCount.append(try packet(1), index: UInt64(index), start: index == 0 ? start : nil) }
    #expect(byCount.entries.count == 3)
    byCount.append(try packet(1), index: 3, start: nil)
    #expect(!byCount.isUsable)
    var byBytes = ReplayBuffer(byteLimit: 100, countLimit: 100)
    byBytes.append(try packet(60), index: 0, start: start)
    byBytes.append(try packet(40), index: 1, start: start)
    #expect(byBytes.entries.count == 2)
    // Over the limit the youngest start has to do.
    byBytes.append(try packet(1), index: 2, start: nil)
    #expect(byBytes.entries.map(\.index) == [1, 2])
    byBytes.append(try packet(59), index: 3, start: nil)
    #expect(byBytes.entries.count == 3)
    byBytes.append(try packet(1), index: 4, start: nil)
    #expect(!byBytes.isUsable)
  }

  /// A codec that begins at a CRA picture leaves out the pictures that lead it: until these are output, the replay
  /// begins at the start before.
  @Test func replayWaitsForLeadingPictures() throws {
    func buffer() throws -> ReplayBuffer {
      var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
      replay.append(try packet(10), index: 0, start: .init(parameterSets: [], reorderDepth: 0))
      replay.append(try packet(10), index: 1, start: nil)
      replay.append(try packet(10), index: 2, start: .init(parameterSets: [], reorderDepth: 0, losesLeading: true))
      return replay
    }
    // The CRA picture is output before what leads it has come, as when the codec is drained.
    var drained = try buffer()
    drained.outputPicture(2)
    #expect(drained.entries.map(\.index) == [0, 1, 2])
    drained.append(try packet(10), index: 3, start: nil, isLeading: true)
    #expect(drained.entries.map(\.index) == [0, 1, 2, 3])
    drained.append(try packet(10), index: 4, start: nil)
    #expect(drained.entries.map(\.index) == [2, 3, 4])
    // It comes out in its turn.
    var ordinary = try buffer()
    ordinary.append(try packet(10), index: 3, start: nil, isLeading: true)
    ordinary.append(try packet(10), index: 4, start: nil)
    #expect(ordinary.entries.count == 5)
    ordinary.outputPicture(2)
    #expect(ordinary.entries.map(\.index) == [2, 3, 4])
  }

  @Test func aReplayIsDueOnceAfterADrain() throws {
    var replay = ReplayBuffer(byteLimit: 1000, countLimit: 100)
    replay.codecWasDrained()
    let isDueWithoutEntries = replay.takeDue()
    #expect(!isDueWithoutEntries)
    replay.append(try packet(10), index: 0, start: .init(parameterSets: [], reorderDepth: 0))
    replay.codecWasDrained()
    let answers = (replay.takeDue(), replay.takeDue())
    #expect(answers == (true, false))
    replay.codecWasDrained()
    replay.removeAll()
    let isDueAfterRemoval = replay.takeDue()
    #expect(!isDueAfterRemoval)
  }
}
