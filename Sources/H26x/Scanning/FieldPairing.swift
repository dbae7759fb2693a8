// SPDX-License-Identifier: MPL-2.0

/// Which fields make up a frame.
///
/// Inlinable, because other modules cannot specialize it otherwise.
public struct FieldPairing<Codec: VideoCodecSyntax>: Sendable {
  @usableFromInline var first: Codec.SliceHeader?

  /// Creates one for a stream that begins with a frame or first field.
  @inlinable public init() {}

  /// Whether the picture of this slice is the second field of a frame.
  ///
  /// - Parameter slice: the first slice of each picture, in order.
  @inlinable public mutating func isSecond(_ slice: Codec.SliceHeader) -> Bool {
    let isSecond = first.map { Codec.isSecondField(slice, of: $0) } ?? false
    first = slice.isField && !isSecond ? slice : nil
    return isSecond
  }
}
