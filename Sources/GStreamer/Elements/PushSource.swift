// SPDX-License-Identifier: MPL-2.0

/// A source that only makes buffers in order (`GstPushSrc` in C).
open class PushSource: BaseSource {
  /// Makes the next buffer with its timestamps; may wait.
  /// - Throws: `.endOfStream` after the last buffer; `.flushing` when `unlock` ended the wait.
  open func nextBuffer() throws(FlowError) -> Buffer { throw .endOfStream }

  /// Whether ``nextList()`` makes several buffers together, instead of ``nextBuffer()``. `false` by default.
  open class var makesLists: Bool { false }
  /// Makes the next buffers with their timestamps, of which a live source sends all at the time of the first; may wait.
  /// For packets that are small and many: larger buffers cost less, where their borders do not matter.
  /// - Throws: `.endOfStream` after the last buffer; `.flushing` when `unlock` ended the wait. An empty list is an
  ///   error.
  open func nextList() throws(FlowError) -> BufferList { throw .endOfStream }

  final override func made(at offset: UInt64?, length: Int) throws(FlowError) -> Made {
    guard Self.makesLists else { return .buffer(try nextBuffer()) }
    let list = try nextList()
    guard !list.isEmpty else { throw .error }
    return .list(list)
  }

  /// Calls `nextBuffer`, whatever the offset.
  public final override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer { try nextBuffer() }

  /// Answers scheduling queries with push mode only; leaves others to the base class.
  open override func query(_ query: borrowing Query) -> Bool {
    guard query.kind == .scheduling else { return super.query(query) }
    query.setPushesOnly()
    return true
  }
}
