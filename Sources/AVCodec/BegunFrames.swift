// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Synchronization

/// The frames of libavcodec's own that it has asked picture memory for, until somebody asks how decoding them went.
///
/// SAFETY: the H.264 and H.265 decoders hand `get_buffer2` the frames of their decoded picture buffers, which they
/// allocate when they are opened and free when they are closed; in between they only fill and empty them. Their content
/// is read here when the thread that decoded into them has handed over its result and has not got more to do.
@safe final class BegunFrames: Sendable {
  @safe private struct Entry: @unchecked Sendable {
    let timestamp: Int64
    let frame: UnsafeMutablePointer<AVFrame>
  }

  /// More than threads can be at once, each with a few frames that stand in for lost ones.
  private static let capacity = 256
  private let entries = Mutex<[Entry]>([])

  /// Notes a frame. On any thread.
  func append(_ frame: UnsafeMutablePointer<AVFrame>) {
    let entry = unsafe Entry(timestamp: frame.pointee.pts, frame: frame)
    entries.withLock { entries in
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(entry)
    }
  }

  func removeAll() { entries.withLock { $0.removeAll() } }

  /// All that went wrong with the frames of that timestamp, which are then forgotten.
  func takeErrors(timestamp: Int64) -> FrameErrors {
    entries.withLock { entries in
      var flags: Int32 = 0
      // A frame that has been emptied since, or filled anew, says nothing.
      for entry in entries where entry.timestamp == timestamp {
        let frame = unsafe entry.frame.pointee
        if unsafe frame.pts == timestamp { unsafe flags |= frame.decode_error_flags }
      }
      entries.removeAll { $0.timestamp == timestamp }
      return FrameErrors(rawValue: flags)
    }
  }
}
