// SPDX-License-Identifier: MPL-2.0
import Glibc

/// A file descriptor, closed at the end of its owner's life.
package struct OwnedDescriptor: ~Copyable, Sendable {
  /// The number, valid as long as the owner lives.
  package let rawValue: Int32

  /// Takes over a descriptor that nothing else closes.
  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit { close(rawValue) }

  /// Gives the descriptor up: the code that gets the number closes it.
  package consuming func release() -> Int32 {
    let rawValue = rawValue
    discard self
    return rawValue
  }
}
