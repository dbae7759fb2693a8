// SPDX-License-Identifier: MPL-2.0
package import CAVCodec

/// One access unit for a decoder: a reference-counted, padded copy of its bytes (`AVPacket`).
///
/// Immutable once made, so that a decoder, its worker threads and a replay buffer may hold it at the same time.
@safe package final class Packet: @unchecked Sendable {
  package let raw: UnsafeMutablePointer<AVPacket>

  /// Takes over `buffer`, of which the first `byteCount` bytes are the packet's and at least
  /// `AV_INPUT_BUFFER_PADDING_SIZE` more are zero.
  ///
  /// - Throws: `AVError.outOfMemory`; `buffer` is then released.
  init(owning buffer: UnsafeMutablePointer<AVBufferRef>, byteCount: Int32, timestamp: Int64) throws(AVError) {
    guard let packet = unsafe cav_packet_alloc() else {
      var buffer: UnsafeMutablePointer<AVBufferRef>? = unsafe buffer
      unsafe cav_buffer_unref(&buffer)
      throw .outOfMemory
    }
    unsafe packet.pointee.buf = unsafe buffer
    unsafe packet.pointee.data = unsafe buffer.pointee.data
    unsafe packet.pointee.size = byteCount
    unsafe packet.pointee.pts = timestamp
    unsafe packet.pointee.dts = timestamp
    unsafe raw = unsafe packet
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = unsafe raw
    unsafe cav_packet_free(&packet)
  }

  /// Bytes of the access unit, padding excluded.
  package var byteCount: Int { unsafe Int(raw.pointee.size) }

  /// The number given to the packet when it was made; the frame decoded from it carries the same.
  package var timestamp: Int64 { unsafe raw.pointee.pts }

  /// The packet's bytes.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let bytes = unsafe Span(_unsafeStart: UnsafePointer(raw.pointee.data), count: byteCount)
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }
}
