// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: how much of the input is done with, and what the base class and the application are told of that.
struct ParserIntake<Codec: ParserCodec>: Sendable {
  private var position = InputPosition()
  private var minimumFrame = MinimumFrameSize()
  private var diagnosis = InputDiagnosis<Codec>()
  /// What the application should know of the data, not posted yet.
  private var warning: ElementError?

  /// Data is handed over. Answers whether it does not follow on what came before, and no event has told.
  mutating func begin(_ situation: ParserSituation) -> Bool {
    diagnosis.noticeData()
    // In push mode seeks come with events, and offsets may be missing. Whether the base class calls the data new says
    // nothing: after a seek back to where it was, it does not.
    return situation.isPulling && position.isJump(to: situation.offset)
  }

  /// The answer to data of which so many bytes are there.
  mutating func answer(
    _ step: ParseStep, isDropped: Bool, of available: Int, _ situation: ParserSituation
  ) -> ParserAnswer {
    diagnosis.finish(step.size)
    position.advance(by: step.size, from: situation.offset)
    var answer = ParserAnswer(step: step, isDropped: isDropped)
    answer.minimumFrameSize = minimumFrame.takeChange()
    swap(&answer.warning, &warning)
    // Nothing follows what ends where the input does.
    let isEnd =
      switch step {
      case .needsMoreData: available == 0
      case .frame(let size), .skip(let size): size == available
      }
    if situation.isDraining, situation.isPulling, isEnd {
      if case .frame = step, !isDropped {
        if diagnosis.awaitEnd() { answer.end = .afterOutput }
      } else {
        answer.end = .now
      }
    }
    return answer
  }

  /// A frame is done with that began at this offset and has so many bytes, of which some were not answered for.
  mutating func finish(_ size: Int, from offset: UInt64?, unanswered: Int) {
    diagnosis.finish(unanswered)
    position.advance(by: size, from: offset)
  }

  // MARK: Bytes to ask for

  /// Upstream's caps are known. Answers bytes to ask for; nil for as many as before.
  mutating func configure(isLengthPrefixed: Bool) -> Int? {
    minimumFrame.configure(isLengthPrefixed: isLengthPrefixed)
    return minimumFrame.takeChange()
  }

  /// Bytes to ask for; nil for as many as before.
  mutating func takeMinimumFrameSize() -> Int? { minimumFrame.takeChange() }

  /// An access unit of so many bytes ends.
  @inline(__always) mutating func found(_ size: Int, isPulling: Bool, mayBatch: Bool) {
    minimumFrame.found(size, isPulling: isPulling, mayBatch: mayBatch)
  }

  /// What was there was of no use.
  mutating func skipped() { minimumFrame.skipped() }

  /// An access unit does not end in so many bytes.
  mutating func needsMore(than available: Int, isPulling: Bool) {
    minimumFrame.needsMore(than: available, isPulling: isPulling)
  }

  // MARK: Where it is

  /// The next data need not follow on what came before.
  mutating func forgetPosition() { position = InputPosition() }

  /// The data from there is to come again, unless the element seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { position.expectAgain(offset) }

  // MARK: What is told

  /// The application should know this, with the next answer.
  mutating func warn(_ warning: ElementError) { self.warning = warning }

  /// A picture is there.
  mutating func noticePicture() { diagnosis.noticePicture() }

  /// Upstream says that nothing is there, on purpose.
  mutating func noticeGap() { diagnosis.noticeGap() }

  /// What is wrong with a stream that has come to its end; nil when nothing is, or when it was told already.
  mutating func end(hasParameterSets: Bool, _ errors: ScannerErrors, isEmptyFile: Bool) -> ElementError? {
    diagnosis.end(hasParameterSets: hasParameterSets, errors, isEmptyFile: isEmptyFile)
  }
}
