// SPDX-License-Identifier: MPL-2.0

/// Provides the memory that libavcodec decodes into, so that pictures need not be copied.
public protocol PictureAllocator: AnyObject, Sendable {
  /// Memory for one picture; nil, or memory that does not meet the request, makes the session use its own.
  ///
  /// libavcodec needs the same strides for all pictures of a size. The session keeps the first picture's strides
  /// until `flush`, `drain` or another size, and refuses memory with others; such pictures then come without the
  /// allocator's token.
  ///
  /// Called on codec worker threads, several at a time, while the session's caller waits in `decode`: must not take a
  /// lock that the caller holds. The decoder may read the memory after the picture came out: do not write to it as
  /// long as anything else holds the token.
  func pictureBuffer(for request: PictureRequest) -> PictureBuffer?
}
