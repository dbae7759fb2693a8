// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import Synchronization

/// In the application: the picture memory that it shares with a codec process.
///
/// A slot is free when neither the process nor a picture that came out needs it. Both are counted here, regardless of
/// the process's reports.
final class SlotTable: Sendable {
  private struct Slot: Sendable {
    var memory: SharedMemory
    var request: PictureRequest
    /// The process holds it.
    var isGranted = false
    /// A picture came out in it, so that the process has its memory. The process does not map memory that it got for
    /// an outdated request.
    var isMapped = false
    /// Pictures that came out in it.
    var leaseCount = 0

    var isFree: Bool { !isGranted && leaseCount == 0 }

    /// Whether it can be granted for pictures of this size. Memory that the process has not mapped must be sent
    /// again.
    func isGrantable(byteCount: Int) -> Bool {
      isFree && memory.byteCount == byteCount && (isMapped || memory.rawValue >= 0)
    }
  }

  private struct State: Sendable {
    var slots: [Slot] = []
    /// The process has ended: memory that no picture needs is freed.
    var isClosed = false

    /// Makes memory. If descriptors are short, first closes the descriptors that no picture needs. A picture that
    /// comes out in such memory later has no descriptor, and is copied instead of being passed on.
    ///
    /// - Parameter unsent: slots whose descriptors are still to be sent.
    func makeMemory(byteCount: Int, sending unsent: some Sequence<Int>) throws(LinkError) -> SharedMemory {
      do throws(LinkError) {
        return try SharedMemory(byteCount: byteCount, peerAccess: .writable)
      } catch {
        guard error.isDescriptorLimit else { throw error }
      }
      for (number, slot) in slots.enumerated() where slot.leaseCount == 0 && !unsent.contains(number) {
        slot.memory.closeDescriptor()
      }
      return try SharedMemory(byteCount: byteCount, peerAccess: .writable)
    }
  }

  /// A picture that came out holds its slot; the last reference ends that.
  final class Lease: Sendable {
    private let number: Int
    private let table: SlotTable

    fileprivate init(_ number: Int, of table: SlotTable) {
      self.number = number
      self.table = table
    }

    deinit { table.endLease(number) }
  }

  /// A grant, with the memory whose descriptors must be sent with it.
  struct Grant {
    let grant: SlotGrant
    let newMemory: [SharedMemory]
    /// The reason for granting fewer slots than were requested; `nil` unless memory could not be made.
    let shortage: LinkError?
  }

  /// Slots that the process may hold at once.
  private let holdLimit: Int
  private let state = Mutex(State())

  init(holdLimit: Int) { self.holdLimit = min(holdLimit, CodecReply.slotLimit) }

  /// Grants up to `count` slots: fewer, or none, if there is no memory or if the process holds too many.
  func grant(_ request: SlotRequest, count: Int) -> Grant {
    let byteCount = request.byteCount
    return state.withLock { state in
      let heldCount = state.slots.count { $0.isGranted }
      let wantedCount = min(count, SlotGrant.slotLimit, holdLimit - heldCount)
      var granted: [SlotGrant.Slot] = []
      var newMemory: [SharedMemory] = []
      var shortage: LinkError?
      while granted.count < wantedCount {
        let number: Int
        if let free = state.slots.firstIndex(where: { $0.isGrantable(byteCount: byteCount) }) {
          number = free
        } else {
          let memory: SharedMemory
          do throws(LinkError) {
            memory = try state.makeMemory(byteCount: byteCount, sending: granted.lazy.filter(\.isNew).map(\.number))
          } catch {
            shortage = error
            break
          }
          let slot = Slot(memory: memory, request: request.picture)
          if let free = state.slots.firstIndex(where: { $0.isFree }) {
            number = free
            state.slots[free] = slot
          } else if state.slots.count < CodecReply.slotLimit {
            number = state.slots.count
            state.slots.append(slot)
          } else {
            break
          }
        }
        let isNew = !state.slots[number].isMapped
        if isNew { newMemory.append(state.slots[number].memory) }
        state.slots[number].request = request.picture
        state.slots[number].isGranted = true
        granted.append(SlotGrant.Slot(number: number, isNew: isNew))
      }
      return Grant(
        grant: SlotGrant(request: request.number, slots: granted), newMemory: newMemory, shortage: shortage)
    }
  }

  /// The process needs a slot no more.
  ///
  /// - Throws: `LinkError.invalid` if the process does not hold it.
  func release(_ number: Int) throws(LinkError) {
    try state.withLock { state throws(LinkError) in
      guard state.slots.indices.contains(number), state.slots[number].isGranted else { throw .invalid }
      state.slots[number].isGranted = false
    }
  }

  /// The memory of a picture that comes out.
  ///
  /// - Throws: `LinkError.invalid` if the process does not hold the slot, or if the picture does not fit.
  func memory(of picture: PictureDescription, slot number: Int) throws(LinkError) -> PictureMemory {
    let (memory, request) = try state.withLock { state throws(LinkError) -> (SharedMemory, PictureRequest) in
      guard state.slots.indices.contains(number), state.slots[number].isGranted else { throw .invalid }
      let request = state.slots[number].request
      guard 1...request.codedWidth ~= picture.width, 1...request.codedHeight ~= picture.height else {
        throw .invalid
      }
      state.slots[number].leaseCount += 1
      state.slots[number].isMapped = true
      return (state.slots[number].memory, request)
    }
    // SAFETY: the memory was made for this layout, and the picture keeps it mapped.
    let planes = unsafe PlaneLayout(request).planes(at: memory.base.assumingMemoryBound(to: UInt8.self))
    return unsafe PictureMemory(sharing: request, planes: planes, memory: memory, lease: Lease(number, of: self))
  }

  /// The process has ended.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for index in state.slots.indices { state.slots[index].isGranted = false }
      if state.slots.allSatisfy(\.isFree) { state.slots = [] }
    }
  }

  private func endLease(_ number: Int) {
    state.withLock { state in
      guard state.slots.indices.contains(number) else { return }
      state.slots[number].leaseCount -= 1
      if state.isClosed, state.slots.allSatisfy(\.isFree) { state.slots = [] }
    }
  }
}
