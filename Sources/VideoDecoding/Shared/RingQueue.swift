// SPDX-License-Identifier: MPL-2.0

/// A first-in-first-out queue in one reused block of memory.
struct RingQueue<Element> {
  private var storage: [Element?] = []
  private var head = 0
  private(set) var count = 0

  mutating func append(_ element: Element) {
    if count == storage.count { grow() }
    storage[(head + count) & (storage.count - 1)] = element
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = storage[head]
    storage[head] = nil
    head = (head + 1) & (storage.count - 1)
    count -= 1
    return element
  }

  mutating func removeAll() {
    while popFirst() != nil {}
  }

  /// Always a power of two, so that wrapping is a mask.
  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(16, storage.count * 2))
    for offset in 0..<count { larger.append(storage[(head + offset) & (storage.count - 1)]) }
    while larger.count < max(16, storage.count * 2) { larger.append(nil) }
    storage = larger
    head = 0
  }
}
