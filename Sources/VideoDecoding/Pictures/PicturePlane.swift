// SPDX-License-Identifier: MPL-2.0

/// One cropped plane of a picture, readable as long as the picture lives.
@safe public struct PicturePlane: ~Escapable {
  private let start: UnsafePointer<UInt8>?
  /// Bytes from one row to the next.
  public let stride: Int
  /// Bytes of a row that belong to the picture.
  public let rowByteCount: Int
  /// Number of rows.
  public let rowCount: Int

  @_lifetime(immortal)
  init() {
    unsafe start = nil
    stride = 0
    rowByteCount = 0
    rowCount = 0
  }

  @_lifetime(borrow start)
  init(start: UnsafeMutablePointer<UInt8>, stride: Int, rowByteCount: Int, rowCount: Int) {
    unsafe self.start = unsafe UnsafePointer(start)
    self.stride = stride
    self.rowByteCount = rowByteCount
    self.rowCount = rowCount
  }

  /// One row, without padding; empty for an index out of range.
  @_lifetime(copy self)
  public func row(_ index: Int) -> Span<UInt8> {
    guard let start = unsafe start, 0..<rowCount ~= index else { return Span() }
    let row = unsafe Span(_unsafeStart: start + index * stride, count: rowByteCount)
    return unsafe _overrideLifetime(row, copying: self)
  }
}
