// SPDX-License-Identifier: MPL-2.0
import Glibc

/// Whether `condition` comes true within so many looks, a tenth of a millisecond apart.
public func comesTrue(within looks: Int = 100_000, _ condition: () -> Bool) -> Bool {
  for _ in 0..<looks {
    if condition() { return true }
    usleep(100)
  }
  return condition()
}
