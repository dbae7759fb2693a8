// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the consumption of the input, and the reports about it to the base class and the application.
struct ParserIntake<Codec: ParserCodec>: Sendable {
  private var position = InputPosition()
  private var minimumFrame = MinimumFrameSize()
  private var diagnosis = InputDiagnosis<Codec>()
  /// To be posted with the next answer.
  private var warning: ElementError?

  /// Begins with new data. Returns whether it does not continue the last, without an event that explains it.
  mutating func begin(_ snapshot: InputSnapshot) -> Bool {
    diagnosis.noticeData()
    // In push mode seeks come with events, and offsets may be missing. GST_BASE_PARSE_FRAME_FLAG_NEW_FRAME does not
    // help: after a seek back to the same place it is not set.
    return snapshot.isPulling && position.isJump(to: snapshot.offset)
  }

  /// The answer to `available` bytes of data.
  mutating func answer(
    _ step: ParseStep, isDropped: Bool, of available: Int, _ snapshot: InputSnapshot
  ) -> ParserAnswer {
    diagnosis.finish(step.size)
    position.advance(by: step.size, from: snapshot.offset)
    var answer = ParserAnswer(step: step, isDropped: isDropped)
    answer.minimumFrameSize = minimumFrame.takeChange()
    swap(&answer.warning, &warning)
    // All that is there is consumed.
    let isEnd =
      switch step {
      case .needsMoreData: available == 0
      case .frame(let size), .skip(let size): size == available
      }
    if snapshot.isDraining, snapshot.isPulling, isEnd {
      if case .frame = step, !isDropped {
        if diagnosis.awaitEnd() { answer.end = .afterOutput }
      } else {
        answer.end = .now
      }
    }
    return answer
  }

  /// Consumes a frame of `size` bytes at this offset; `unanswered` of them were in no answer.
  mutating func finish(_ size: Int, from offset: UInt64?, unanswered: Int) {
    diagnosis.finish(unanswered)
    position.advance(by: size, from: offset)
  }

  // MARK: Bytes to request

  /// Upstream's caps are known. Returns the number of bytes to request; nil for as many as before.
  mutating func configure(isLengthPrefixed: Bool) -> Int? {
    minimumFrame.configure(isLengthPrefixed: isLengthPrefixed)
    return minimumFrame.takeChange()
  }

  /// The number of bytes to request; nil for as many as before.
  mutating func takeMinimumFrameSize() -> Int? { minimumFrame.takeChange() }

  /// An access unit of `size` bytes was found.
  @inline(__always) mutating func found(_ size: Int, isPulling: Bool, mayBatch: Bool) {
    minimumFrame.found(size, isPulling: isPulling, mayBatch: mayBatch)
  }

  /// Data was skipped.
  mutating func skipped() { minimumFrame.skipped() }

  /// An access unit does not end in `available` bytes.
  mutating func needsMore(than available: Int, isPulling: Bool) {
    minimumFrame.needsMore(than: available, isPulling: isPulling)
  }

  // MARK: Position

  /// Data at this offset was handed over.
  mutating func notice(_ offset: UInt64?) { position.notice(offset) }

  /// Whether nothing was consumed at this position yet.
  var isFresh: Bool { position.isFresh }

  /// The next data need not continue what came before.
  mutating func forgetPosition() { position = InputPosition() }

  /// The data at this offset will come again, unless the base class seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { position.expectAgain(offset) }

  // MARK: Reports

  /// A warning, to be posted with the next answer.
  mutating func warn(_ warning: ElementError) { self.warning = warning }

  /// A picture is there.
  mutating func noticePicture() { diagnosis.noticePicture() }

  /// Upstream has sent GAP: no data, on purpose.
  mutating func noticeGap() { diagnosis.noticeGap() }

  /// The error for a stream that has ended; nil when there is none, or when it was reported before.
  mutating func end(hasParameterSets: Bool, _ errors: ScannerErrors, isEmptyFile: Bool) -> ElementError? {
    diagnosis.end(hasParameterSets: hasParameterSets, errors, isEmptyFile: isEmptyFile)
  }
}

/// Stage: where in the input the next data should be.
struct InputPosition: Sendable {
  /// The offset of the data that continues the last; nil before any came.
  private var expected: UInt64?
  /// Whether nothing was consumed yet.
  private(set) var isFresh = true

  /// Whether data at this offset does not continue what came before: the base class has sought, without an event.
  func isJump(to offset: UInt64?) -> Bool {
    guard let expected, let offset else { return false }
    return offset != expected
  }

  /// Data at this offset was handed over. It comes again, unless it is consumed or the base class seeks.
  mutating func notice(_ offset: UInt64?) { expected = expected ?? offset }

  /// `count` bytes at this offset are consumed.
  mutating func advance(by count: Int, from offset: UInt64?) {
    guard count > 0 else { return }
    (expected, isFresh) = (offset.map { $0 &+ UInt64(count) }, false)
  }

  /// The data at this offset will come again, unless the base class seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { (expected, isFresh) = (offset, false) }
}
