// SPDX-License-Identifier: MPL-2.0
import StreamReport
import Synchronization
import Testing

@testable import Tool

/// The threads that read slice data.
struct SliceThreadsTests {
  @Test(arguments: [1, 2, 8, 16], [0, 1, 3, 1_000]) func makeEachCallOnce(threads: Int, calls: Int) {
    let made = Mutex((calls: [Int](), busy: Set<Int>(), haveOverlapped: false))
    SliceThreads(system: threads).perform(calls) { call, thread in
      made.withLock { made in
        if !made.busy.insert(thread).inserted || !(0..<threads).contains(thread) { made.haveOverlapped = true }
        made.calls.append(call)
      }
      _ = made.withLock { $0.busy.remove(thread) }
    }
    made.withLock { made in
      #expect(made.calls.sorted() == Array(0..<calls) && !made.haveOverlapped && made.busy.isEmpty)
    }
  }

  @Test func oneThreadIsTheCaller() throws {
    var options = SliceThreadOptions()
    options.threads = 1
    #expect(options.sliceThreads == nil)
    options.threads = 2
    #expect(options.sliceThreads?.count == 2)
  }
}
