// SPDX-License-Identifier: MPL-2.0

/// What a decoder asks for when it starts a picture (`get_buffer2`).
package struct FrameBufferRequest: Sendable {
  /// Timestamp of the packet that starts the picture.
  package let timestamp: Int64
  /// How libavcodec is going to write it.
  package let format: FrameFormat
  /// Coded size in luma samples, cropping not taken off.
  package let width: Int, height: Int
  /// Luma samples that will be cut off at each edge.
  package let cropLeft: Int, cropRight: Int, cropTop: Int, cropBottom: Int
  /// Size in luma samples that the buffer must have: libavcodec's routines write beyond the coded size.
  package let alignedWidth: Int, alignedHeight: Int
  /// Every stride, and the address of every plane, must be a multiple of this many bytes.
  package let strideAlignment: Int
}

/// Memory for one picture, lent to libavcodec until it drops the last reference.
@unsafe package struct FrameBuffer {
  /// Start of up to four planes; the first is not nil.
  package var planes: [UnsafeMutablePointer<UInt8>]
  /// Bytes from one row to the next, a plane each.
  package var strides: [Int32]
  /// Bytes reserved at the first plane.
  package var byteCount: Int
  /// Keeps the memory alive, and comes back with the decoded frame; released when libavcodec lets go.
  package var owner: AnyObject

  /// Describes memory for one picture.
  package init(planes: [UnsafeMutablePointer<UInt8>], strides: [Int32], byteCount: Int, owner: AnyObject) {
    unsafe self.planes = unsafe planes
    unsafe self.strides = strides
    unsafe self.byteCount = byteCount
    unsafe self.owner = owner
  }
}

/// Gives a decoder the memory it writes pictures into.
package protocol FrameBufferSource: AnyObject, Sendable {
  /// Memory for one picture.
  ///
  /// Called on libavcodec's worker threads, several at once, while the decoder's owner waits for them: takes no lock
  /// that the owner may hold.
  ///
  /// - Throws: what libavcodec is to fail with: `outOfMemory`, or `unsupportedFeature` for a format that is not known.
  func buffer(for request: FrameBufferRequest) throws(AVError) -> FrameBuffer
}
