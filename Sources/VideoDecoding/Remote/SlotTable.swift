// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Synchronization

/// In the application: the picture memory that it shares with a codec process.
///
/// A slot is free when neither the process nor a picture that came out needs it; both are counted here, whatever the
/// process reports.
final class SlotTable: Sendable {
  private struct Slot: Sendable {
    var memory: SharedMemory
    var request: PictureRequest
    /// The process has got it.
    var isGranted = false
    /// A picture came out in it, so that the process has its memory: what it got for a request that is outdated, it
    /// does not map.
    var isMapped = false
    /// Pictures that came out in it.
    var leaseCount = 0

    var isFree: Bool { !isGranted && leaseCount == 0 }
  }

  private struct State: Sendable {
    var slots: [Slot] = []
    /// The process has ended: what no picture needs is freed.
    var isClosed = false
  }

  /// A picture that came out holds its slot; the last reference ends that.
  final class Lease: Sendable {
    private let number: Int
    private let table: SlotTable
    let memory: SharedMemory

    fileprivate init(_ number: Int, _ memory: SharedMemory, of table: SlotTable) {
      self.number = number
      self.memory = memory
      self.table = table
    }

    deinit { table.endLease(number) }
  }

  /// A grant, with the memory whose descriptors are to be sent with it.
  struct Grant {
    let grant: SlotGrant
    let newMemory: [SharedMemory]
    /// Why there are fewer slots than were requested; `nil` unless memory could not be made.
    let shortage: LinkError?
  }

  /// Slots that the process may hold at once.
  private let holdLimit: Int
  private let state = Mutex(State())

  init(holdLimit: Int) { self.holdLimit = min(holdLimit, CodecReply.slotLimit) }

  /// Grants up to `count` slots: fewer, or none, where there is no memory or where the process holds too many.
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
        if let free = state.slots.firstIndex(where: { $0.isFree && $0.memory.byteCount == byteCount }) {
          number = free
        } else {
          let memory: SharedMemory
          do throws(LinkError) { memory = try SharedMemory(byteCount: byteCount, peerAccess: .writable) } catch {
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
  /// - Throws: `LinkError.invalid` where it has not got it.
  func release(_ number: Int) throws(LinkError) {
    try state.withLock { state throws(LinkError) in
      guard state.slots.indices.contains(number), state.slots[number].isGranted else { throw .invalid }
      state.slots[number].isGranted = false
    }
  }

  /// The memory of a picture that comes out.
  ///
  /// - Throws: `LinkError.invalid` where the process has not got the slot, or where the picture does not fit.
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
    // SAFETY: the memory was made for this layout, and the lease keeps it mapped.
    let planes = unsafe PlaneLayout(request).planes(at: memory.base.assumingMemoryBound(to: UInt8.self))
    return unsafe PictureMemory(sharing: request, planes: planes, lease: Lease(number, memory, of: self))
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
