// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// A buffer of the input that is an access unit or a part of one, with its NAL units found.
final class H264RepackPart {
  private(set) var buffer: Buffer?
  var repackager = Repackager(codec: .h264)
  /// What ended the search for NAL units early.
  private(set) var damage: BitstreamError?
  private(set) var misplacedStartCodes = 0

  init(_ buffer: consuming Buffer) { self.buffer = consume buffer }

  /// Puts another buffer in place of the one before, keeping the table's memory.
  func reuse(for buffer: consuming Buffer) {
    self.buffer = consume buffer
    damage = nil
    misplacedStartCodes = 0
  }

  /// Gives the buffer away.
  func takeBuffer() -> Buffer { buffer.take() ?? Buffer() }

  /// Lends the bytes.
  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result {
    switch buffer {
    case .some(let buffer):
      let map = try buffer.map()
      return try body(map.bytes)
    case .none: throw .error
    }
  }

  /// Lends the buffer.
  func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    switch buffer {
    case .some(let buffer): return body(buffer)
    case .none:
      let empty = Buffer()
      return body(empty)
    }
  }

  /// Finds the NAL units. Byte streams where lengths should be, and start codes behind lengths, are put right.
  func scan(_ bytes: Span<UInt8>, as packaging: NALPackaging) {
    switch packaging {
    case .annexB:
      repackager.scanAnnexB(bytes)
      if repackager.entries.isEmpty, bytes.count > 0 {
        damage = BitstreamError(.unsupported, "start_code_prefix_one_3bytes", bitOffset: 0)
      }
    case .lengthPrefixed(let size):
      do throws(BitstreamError) {
        try repackager.scanLengthPrefixed(bytes, lengthSize: size)
      } catch {
        guard !LengthPrefixed.isAnnexB(bytes, lengthSize: size) else {
          repackager.scanAnnexB(bytes)
          misplacedStartCodes = repackager.entries.count
          return
        }
        damage = error
      }
      misplacedStartCodes = repackager.repairStartCodes(in: bytes)
    }
  }

  /// Whether there is a slice among the NAL units.
  var hasPicture: Bool { repackager.entries.contains { 1...5 ~= $0.type } }

  /// Whether the NAL units are all that is in the buffer, untouched.
  var isIntact: Bool { damage == nil && misplacedStartCodes == 0 && repackager.droppedCount == 0 }
}
