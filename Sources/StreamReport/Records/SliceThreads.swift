// SPDX-License-Identifier: MPL-2.0

/// Threads that read slice data together.
///
/// This module starts no threads, because it also runs in a browser: the program brings them.
package struct SliceThreads: Sendable {
  /// Calls `body(call, thread)` once for each call in `0..<calls`, and returns after the last call. Threads are numbered
  /// from 0, and calls with the same number never overlap.
  package typealias Perform =
    @Sendable (_ calls: Int, _ body: @escaping @Sendable (_ call: Int, _ thread: Int) -> Void) -> Void

  /// The number of threads, including the caller's.
  package let count: Int
  package let perform: Perform

  /// Bytes of NAL units that are kept, and then read together: a second or two of HD video.
  package var batchSize: Int { min(count, 8) << 21 }
  /// Access units that are read together, at most.
  static var accessUnitLimit: Int { 128 }
  /// NAL units that are kept, at most.
  static var unitLimit: Int { 1 << 14 }
  /// The blocks of the largest picture that is kept: those of level 6.2 (H.264, A.3). Each thread has memory for one.
  static var blockLimit: Int { 139_264 }

  /// Creates threads.
  ///
  /// - Parameters:
  ///   - count: how many threads `perform` uses, at least 1.
  ///   - perform: shares calls among them.
  package init(count: Int, perform: @escaping Perform) {
    self.count = max(1, count)
    self.perform = perform
  }
}
