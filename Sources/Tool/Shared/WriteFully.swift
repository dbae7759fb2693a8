// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Writes all bytes to a descriptor. Returns false, with `errno` set, on an error.
func writeFully(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = unsafe bytes
  while unsafe !rest.isEmpty {
    let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return false }
    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
  return true
}

/// Writes pieces of memory one after the other, without a copy. Returns false, with `errno` set, on an error.
func writeFully(_ pieces: [iovec], to descriptor: Int32) -> Bool {
  /// The most pieces of one call (IOV_MAX).
  let limit = 1024
  var pieces = unsafe pieces
  var first = 0
  while first < (unsafe pieces.count) {
    var count = unsafe pieces[first...].withUnsafeBufferPointer {
      unsafe writev(descriptor, $0.baseAddress, Int32(min($0.count, limit)))
    }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return false }
    while first < (unsafe pieces.count), count > 0 {
      let length = unsafe pieces[first].iov_len
      if count < length {
        unsafe pieces[first].iov_base = unsafe pieces[first].iov_base.map { unsafe $0 + count }
        unsafe pieces[first].iov_len -= count
      } else {
        first += 1
      }
      count -= min(count, length)
    }
  }
  return true
}
