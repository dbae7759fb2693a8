// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Synchronization
import VideoDecoding

/// In a codec process: has libavcodec decode into slots that the application grants.
///
/// Slots that were granted ahead are taken without a message. Otherwise the thread that needs one requests it, and
/// waits until the application serves the request. The application does so while it waits for an answer to its own
/// command.
final class SlotAllocator: PictureAllocator {
  /// Holds a slot for the codec; gives it back with its last reference.
  final class Slot: Sendable {
    let number: Int
    private let memory: SharedMemory
    private let allocator: SlotAllocator

    fileprivate init(_ number: Int, _ memory: SharedMemory, of allocator: SlotAllocator) {
      self.number = number
      self.memory = memory
      self.allocator = allocator
    }

    deinit { allocator.release([number]) }
  }

  private struct State: ~Copyable {
    var request: SlotRequest?
    /// Granted for the request, and not taken.
    var unused: [Int] = []
    var memories: [Int: SharedMemory] = [:]
    /// The number of granted slots that were taken or given back.
    var consumedCount: UInt32 = 0
    var message = LinkMessage(capacity: 256, descriptorCount: SlotGrant.slotLimit)
  }

  /// The link on which requests are sent; other threads send other messages on it.
  private let link: SharedLink
  private let grants: LinkSocket
  private let state = Mutex(State())
  private let released = Mutex<[Int]>([])

  init(link: SharedLink, grants: consuming LinkSocket) {
    self.link = link
    self.grants = grants
  }

  /// The number of granted slots that were taken or given back.
  var consumedCount: UInt32 { state.withLock { $0.consumedCount } }

  /// The slots that nothing needs any more since the last call.
  func takeReleased() -> [Int] { released.withLock { released in exchange(&released, with: []) } }

  private func release(_ slots: [Int]) { released.withLock { $0 += slots } }

  func pictureBuffer(for request: PictureRequest) -> PictureBuffer? {
    let slot: (number: Int, memory: SharedMemory)? = state.withLock { state in
      do throws(LinkError) {
        return try takeSlot(for: request, &state)
      } catch { return nil }
    }
    guard let slot else { return nil }
    let layout = PlaneLayout(request)
    // SAFETY: the application made the memory for this layout, whose size was checked when it was mapped.
    let planes = unsafe layout.planes(at: slot.memory.base.assumingMemoryBound(to: UInt8.self))
    return unsafe PictureBuffer(planes: planes, token: Slot(slot.number, slot.memory, of: self))
  }

  private func takeSlot(
    for picture: PictureRequest, _ state: inout State
  ) throws(LinkError) -> (number: Int, memory: SharedMemory)? {
    if state.request?.picture != picture {
      giveBack(state.unused, &state)
      state.unused = []
      state.request = SlotRequest(number: (state.request?.number ?? 0) &+ 1, picture: picture)
    }
    guard let request = state.request else { return nil }
    if state.unused.isEmpty { try receiveGrantsAhead(for: request, &state) }
    if state.unused.isEmpty {
      var writer = MessageWriter()
      CodecReply.slotRequest(request).write(to: &writer)
      try link.socket.send(writer)
      while try !receiveGrant(for: request, until: .never, &state) {}
    }
    guard let number = state.unused.popLast(), let memory = state.memories[number] else { return nil }
    state.consumedCount &+= 1
    return (number, memory)
  }

  private func giveBack(_ slots: [Int], _ state: inout State) {
    state.consumedCount &+= UInt32(clamping: slots.count)
    release(slots)
  }

  private func receiveGrantsAhead(for request: SlotRequest, _ state: inout State) throws(LinkError) {
    do throws(LinkError) {
      while state.unused.isEmpty { _ = try receiveGrant(for: request, until: Deadline(after: .zero), &state) }
    } catch .timedOut {}
  }

  /// Returns whether the grant was for this request.
  private func receiveGrant(
    for request: SlotRequest, until deadline: Deadline, _ state: inout State
  ) throws(LinkError) -> Bool {
    try grants.receive(into: &state.message, until: deadline)
    let grant = try SlotGrant(reading: state.message.bytes)
    let isCurrent = grant.request == request.number
    for slot in grant.slots {
      if slot.isNew {
        guard let descriptor = state.message.takeDescriptor() else { throw .invalid }
        // Slots of an earlier request are never written.
        guard isCurrent else { continue }
        let memory = try SharedMemory(mapping: descriptor, byteCount: request.byteCount, access: .writable)
        memory.closeDescriptor()
        state.memories[slot.number] = memory
      }
      // Memory of the same number and another size is the application's mistake.
      if isCurrent, state.memories[slot.number]?.byteCount != request.byteCount { throw .invalid }
    }
    let numbers = grant.slots.map(\.number)
    if isCurrent { state.unused += numbers } else { giveBack(numbers, &state) }
    return isCurrent
  }
}

/// A connection that several threads send on.
final class SharedLink: Sendable {
  let socket: LinkSocket
  init(_ socket: consuming LinkSocket) { self.socket = socket }
}
