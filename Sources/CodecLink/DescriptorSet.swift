// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Descriptors that came with one message, closed with the last reference.
package final class DescriptorSet: Sendable {
  /// Their numbers, valid as long as the set lives.
  package let numbers: [Int32]

  /// Takes over descriptors that nothing else closes.
  package init(owning numbers: [Int32]) { self.numbers = numbers }

  deinit { for number in numbers { close(number) } }
}
