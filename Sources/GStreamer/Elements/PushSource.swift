// SPDX-License-Identifier: MPL-2.0

/// A source that only makes buffers in order (`GstPushSrc` in C).
open class PushSource: BaseSource {
  /// Makes the next buffer with its timestamps; may wait.
  /// - Throws: `.endOfStream` after the last buffer; `.flushing` when `unlock` ended the wait.
  open func nextBuffer() throws(FlowError) -> Buffer { throw .endOfStream }

  /// Calls `nextBuffer`, whatever the offset.
  public final override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer { try nextBuffer() }

  /// Answers scheduling queries with push mode only; leaves others to the base class.
  open override func query(_ query: borrowing Query) -> Bool {
    guard query.kind == .scheduling else { return super.query(query) }
    query.setPushesOnly()
    return true
  }
}
