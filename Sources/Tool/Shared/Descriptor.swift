// SPDX-License-Identifier: MPL-2.0
import Glibc

/// A descriptor that is closed with its last owner, except standard input.
final class Descriptor: Sendable {
  let number: Int32
  init(_ number: Int32) { self.number = number }
  deinit { if number != STDIN_FILENO { close(number) } }

  /// The descriptors below 1024 that were open when the program began, before it opened any itself.
  static let inherited = Set((0..<1024 as Range<Int32>).filter { fcntl($0, F_GETFD) >= 0 })

  /// A name by which others can open the same file again.
  var path: String { "/proc/self/fd/\(number)" }
}
