// SPDX-License-Identifier: MPL-2.0

/// Picture memory for a codec process: the answer to a `SlotRequest`, or more of the same kind ahead of need.
package struct SlotGrant {
  /// A piece of memory.
  package struct Slot {
    /// Its number in the session.
    package let number: Int
    /// Whether the process does not have its memory yet: the descriptor then comes with the message.
    package let isNew: Bool

    package init(number: Int, isNew: Bool) {
      self.number = number
      self.isNew = isNew
    }
  }

  /// Slots of a session, at most: far more than codec and application ever hold.
  package static let sessionLimit = 4096
  /// Slots of a message, at most: a descriptor each may come with them.
  package static let slotLimit = LinkSocket.descriptorLimit

  /// The number of the request that the slots are for.
  package let request: UInt32
  /// Empty if the application has no memory.
  package let slots: [Slot]

  package init(request: UInt32, slots: [Slot]) {
    self.request = request
    self.slots = slots
  }

  /// Reads the message.
  package init(reading bytes: Span<UInt8>) throws(LinkError) {
    var reader = MessageReader(bytes)
    request = try reader.read()
    let count = try reader.readCount(limit: Self.slotLimit)
    var slots: [Slot] = []
    for _ in 0..<count {
      slots.append(
        Slot(number: try reader.readCount(limit: Self.sessionLimit - 1), isNew: try reader.readFlag()))
    }
    self.slots = slots
    try reader.finish()
  }

  /// Appends the message.
  package func write(to writer: inout MessageWriter) {
    writer.append(request)
    writer.append(count: slots.count)
    for slot in slots {
      writer.append(count: slot.number)
      writer.append(slot.isNew)
    }
  }
}
