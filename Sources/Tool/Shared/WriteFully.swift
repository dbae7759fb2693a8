// SPDX-License-Identifier: MPL-2.0
import Glibc

/// After a read or write that failed: whether to try again. Waits for a descriptor that others made nonblocking, such as
/// a pipe that is shared with a shell.
func isInterrupted(_ descriptor: Int32, until events: Int32) -> Bool {
  if errno == EINTR { return true }
  guard errno == EAGAIN else { return false }
  var wait = pollfd(fd: descriptor, events: Int16(events), revents: 0)
  return unsafe poll(&wait, 1, -1) > 0 || errno == EINTR
}

/// Writes all bytes to a descriptor. Returns false, with `errno` set, on an error.
func writeFully(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = unsafe bytes
  while unsafe !rest.isEmpty {
    let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
    if count < 0, isInterrupted(descriptor, until: POLLOUT) { continue }
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
    if count < 0, isInterrupted(descriptor, until: POLLOUT) { continue }
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
