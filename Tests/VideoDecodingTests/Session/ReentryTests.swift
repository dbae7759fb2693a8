// SPDX-License-Identifier: MPL-2.0
import Synchronization
import Testing

@testable import VideoDecoding

/// The owner of a picture's memory learns that it is free in a `deinit`, in the middle of any call of the session. It
/// may query the session there.
@Suite struct ReentryTests {
  private final class AskingAllocator: PictureAllocator {
    private final class Token {
      private let memory: AnyObject
      private let allocator: AskingAllocator
      init(_ memory: AnyObject, _ allocator: AskingAllocator) { (self.memory, self.allocator) = (memory, allocator) }
      deinit { allocator.ask() }
    }

    private let memory = TestAllocator()
    // Without threads of libavcodec, all happens on the thread that calls the session.
    nonisolated(unsafe) weak var session: DecompressionSession?
    let questions = Atomic<Int>(0)

    func pictureBuffer(for request: PictureRequest) -> PictureBuffer? {
      guard var buffer = unsafe memory.pictureBuffer(for: request) else { return nil }
      unsafe buffer.token = unsafe Token(buffer.token, self)
      return unsafe buffer
    }

    private func ask() {
      guard let session = unsafe session else { return }
      _ = (session.statistics, session.latency, session.isAwaitingRandomAccessPoint, session.isLost)
      questions.add(1, ordering: .relaxed)
    }
  }

  enum Ending: CaseIterable { case flush, drainAndFlush, invalidate, drainAndInvalidate }

  @Test(arguments: Ending.allCases, [true, false])
  func releasingMemoryMayCallTheSession(_ ending: Ending, _ fetchesResults: Bool) throws {
    let units = try mediaAccessUnits("clip.h264")
    let allocator = AskingAllocator()
    let session = try makeSession(units, .with { $0.threadType = .none }, allocator: allocator)
    unsafe allocator.session = session
    for (index, unit) in units.prefix(12).enumerated() {
      try session.decode(unit, tag: UInt64(index))
      if fetchesResults { while session.nextResult() != nil {} }
    }
    switch ending {
    case .flush: session.flush()
    case .drainAndFlush:
      session.drain()
      session.flush()
    case .invalidate: session.invalidate()
    case .drainAndInvalidate:
      session.drain()
      session.invalidate()
    }
    var tags: Set<UInt64> = []
    while let result = session.nextResult() { tags.insert(result.tag) }
    #expect(fetchesResults || tags.count == 12)
    #expect(allocator.questions.load(ordering: .relaxed) > 0)
  }
}
