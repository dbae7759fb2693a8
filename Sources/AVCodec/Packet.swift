// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// One access unit for a decoder: a padded copy of its bytes, as libavcodec requires.
///
/// Immutable once made, so that a decoder, its worker threads and a session may hold it at the same time. It is
/// made without libavcodec: the memory is a block of the pool's.
@safe package final class Packet: Sendable {
  private let block: PacketPool.Block
  /// Bytes of the access unit, padding excluded.
  package let byteCount: Int
  /// The number given to the packet when it was made; the frame decoded from it carries the same.
  package let timestamp: Int64

  /// - Parameter block: its first `byteCount` bytes are the packet's, and at least `AV_INPUT_BUFFER_PADDING_SIZE` more
  ///   are zero.
  init(_ block: PacketPool.Block, byteCount: Int, timestamp: Int64) {
    self.block = block
    self.byteCount = byteCount
    self.timestamp = timestamp
  }

  /// The packet's bytes.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let bytes = unsafe Span(_unsafeStart: UnsafePointer(block.start), count: byteCount)
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  /// Has `packet`, an empty one, refer to the bytes; libavcodec keeps them alive as long as it needs them.
  ///
  /// - Throws: `AVError.outOfMemory`.
  func lend(to packet: UnsafeMutablePointer<AVPacket>) throws(AVError) {
    let owner = unsafe Unmanaged.passRetained(self)
    guard
      let buffer = unsafe cav_buffer_create(
        block.start, byteCount + Int(CAV_INPUT_PADDING), releasePacket, owner.toOpaque())
    else {
      unsafe owner.release()
      throw .outOfMemory
    }
    unsafe packet.pointee.buf = unsafe buffer
    unsafe packet.pointee.data = unsafe block.start
    unsafe packet.pointee.size = Int32(clamping: byteCount)
    unsafe packet.pointee.pts = timestamp
    unsafe packet.pointee.dts = timestamp
  }
}

/// libavcodec needs the bytes no more.
private let releasePacket: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = {
  opaque, _ in
  guard let opaque = unsafe opaque else { return }
  unsafe Unmanaged<Packet>.fromOpaque(opaque).release()
}
