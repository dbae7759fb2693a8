// SPDX-License-Identifier: MPL-2.0

/// Makes buffers one after the other, from the beginning to the end (what `GstPushSrc` is in C).
open class PushSource: BaseSource {
  /// The next buffer, with its timestamps; may wait.
  /// - Throws: `.endOfStream` behind the last; `.flushing` when `unlock` ended the wait.
  open func nextBuffer() throws(FlowError) -> Buffer { throw .endOfStream }

  /// `nextBuffer`, wherever.
  public final override func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer { try nextBuffer() }

  /// Says that nobody can pull out of it, and leaves the rest to the base class.
  open override func query(_ query: borrowing Query) -> Bool {
    guard query.kind == .scheduling else { return super.query(query) }
    query.setPushesOnly()
    return true
  }
}
