// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Synchronization

/// The frames for which libavcodec has requested picture memory, until their errors are read.
///
/// SAFETY: the H.264 and H.265 decoders pass `get_buffer2` the frames of their decoded picture buffers. They allocate
/// these frames when they are opened and free them when they are closed; in between, they only fill and empty them. A
/// frame is read here when the thread that decoded into it has delivered its result and has no new packet.
@safe final class PendingFrames: Sendable {
  @safe private struct Entry: @unchecked Sendable {
    let timestamp: Int64
    let frame: UnsafeMutablePointer<AVFrame>
  }

  /// More frames than all threads can begin together, including a few per thread that replace lost frames.
  private static let capacity = 256
  private let entries = Mutex<[Entry]>([])

  /// Adds a frame, on any thread.
  func append(_ frame: UnsafeMutablePointer<AVFrame>) {
    let entry = unsafe Entry(timestamp: frame.pointee.pts, frame: frame)
    entries.withLock { entries in
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(entry)
    }
  }

  func removeAll() { entries.withLock { $0.removeAll() } }

  /// The errors in the frames of a timestamp, which are then removed.
  func takeErrors(timestamp: Int64) -> FrameErrors {
    entries.withLock { entries in
      var flags: Int32 = 0
      // Not of a frame that was emptied or filled again since.
      for entry in entries where entry.timestamp == timestamp {
        let frame = unsafe entry.frame.pointee
        if unsafe frame.pts == timestamp { unsafe flags |= frame.decode_error_flags }
      }
      entries.removeAll { $0.timestamp == timestamp }
      return FrameErrors(rawValue: flags)
    }
  }
}
