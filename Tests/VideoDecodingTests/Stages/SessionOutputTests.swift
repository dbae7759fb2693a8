// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct SessionOutputTests {
  private func picture() throws -> DecodedPicture {
    try #require(try decodeAll(Array(mediaAccessUnits("clip.h264").prefix(1)), .threadings[0]).frames.first)
  }

  /// A result in words.
  private func text(_ result: SessionResult) -> String {
    switch result {
    case .frame(let picture): "frame \(picture.tag)"
    case .dropped(let tag, let reason): "dropped \(tag) \(reason)"
    case .failed(let tag, let error): "failed \(tag) \(error.reason)"
    }
  }

  private func results(_ output: inout SessionOutput) -> [String] {
    var texts: [String] = []
    while let result = output.nextResult() { texts.append("\(result.tag): " + text(result)) }
    return texts
  }

  @Test func countsResultsAndKeepsTheirOrder() throws {
    var output = SessionOutput()
    output.drop(7, .skipped)
    output.show(try picture())
    output.fail(DecodeError(.badData), tag: 9)
    output.drop(8, .noPicture)
    let statistics = output.statistics
    #expect(statistics.output == 1 && statistics.dropped == 2 && statistics.failed == 1 && statistics.lost == 0)
    #expect(statistics.submitted == 0 && statistics.corrupted == 0 && statistics.lastError == nil)
    let texts = results(&output)
    #expect(texts == ["7: dropped 7 skipped", "0: frame 0", "9: failed 9 badData", "8: dropped 8 noPicture"])
  }

  @Test(arguments: DropReason.allCases) func countsDropsOfPicturesAsLosses(_ reason: DropReason) {
    var output = SessionOutput()
    output.drop(1, reason)
    let isLoss = [.beforeRandomAccessPoint, .noReference, .corrupt, .outOfOrder, .sessionLost].contains(reason)
    #expect(output.statistics.dropped == 1 && output.statistics.lost == (isLoss ? 1 : 0))
  }

  /// A picture that was never fetched becomes a drop. The records of the others stay.
  @Test func flushingDropsPictures() throws {
    var output = SessionOutput()
    output.drop(7, .skipped)
    output.show(try picture())
    output.fail(DecodeError(.badData), tag: 9)
    output.notify(.beganWithoutRandomAccessPoint)
    let flushed = output.flush()
    #expect(flushed.map(\.tag) == [0])
    let statistics = output.statistics
    #expect(statistics.output == 0 && statistics.dropped == 2 && statistics.failed == 1)
    let texts = results(&output)
    #expect(texts == ["7: dropped 7 skipped", "0: dropped 0 flushed", "9: failed 9 badData"])
    let notices = [output.nextNotice(), output.nextNotice()]
    #expect(notices == [.beganWithoutRandomAccessPoint, nil])
  }

  @Test func beginsWithoutCounts() {
    let statistics = SessionOutput().statistics
    #expect(statistics.submitted == 0 && statistics.output == 0 && statistics.dropped == 0 && statistics.failed == 0)
    #expect(statistics.corrupted == 0 && statistics.concealed == 0 && statistics.hashMismatches == 0)
    #expect(statistics.restarts == 0 && statistics.replayed == 0 && statistics.resynchronisations == 0)
    #expect(statistics.allocatorMisses == 0 && statistics.lastError == nil)
  }
}
