// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerCheck
import GStreamer
import HarnessSupport
import Synchronization

/// Memory that can be mapped only so many times, and an allocator of it.
@safe final class RefusingAllocator {
  /// What memory leads to.
  private final class Ledger: Sendable {
    let maps: Int
    let balance = Atomic<Int>(0)
    init(maps: Int) { self.maps = maps }
  }

  /// The fields behind a GstMemory. A part of another memory uses only the GstMemory.
  @unsafe private struct Tail {
    var rest: Int
    let ledger: Unmanaged<Ledger>
    let block: UnsafeMutableRawPointer
    /// Its first aligned byte.
    let data: UnsafeMutableRawPointer
  }

  private let ledger: Ledger
  private let raw: UnsafeMutablePointer<GstAllocator>

  /// - Parameter maps: how often each memory can be mapped; below 0 there is no memory at all.
  init(maps: Int) throws(FlowError) {
    Harness.initialise()
    ledger = Ledger(maps: maps)
    guard let object = unsafe g_object_new_with_properties(Self.type, 0, nil, nil) else { throw .error }
    unsafe gst_object_ref_sink(object)
    unsafe raw = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstAllocator.self)
    unsafe raw.pointee.mem_map = { memory, _, _ in
      guard let memory = unsafe memory else { return nil }
      let tail = unsafe RefusingAllocator.tail(of: memory.pointee.parent ?? memory)
      guard unsafe tail.pointee.rest > 0 else { return nil }
      unsafe tail.pointee.rest -= 1
      return unsafe tail.pointee.data
    }
    unsafe raw.pointee.mem_unmap = { _ in }
    unsafe raw.pointee.mem_share = { memory, offset, size in
      guard let memory = unsafe memory else { return nil }
      let root = unsafe memory.pointee.parent ?? memory
      let size = unsafe size < 0 ? gssize(memory.pointee.size) - offset : size
      return unsafe RefusingAllocator.memory(
        memory.pointee.allocator, root, maxsize: memory.pointee.maxsize,
        offset: gsize(gssize(memory.pointee.offset) + offset), size: gsize(size))
    }
    unsafe RefusingAllocator.ledgers(of: raw).initialize(to: Unmanaged.passUnretained(ledger))
  }

  deinit { unsafe gst_object_unref(raw) }

  /// The memories that are not freed.
  var balance: Int { ledger.balance.load(ordering: .relaxed) }

  /// A buffer of these bytes.
  func buffer(of bytes: [UInt8]) throws(FlowError) -> Buffer {
    guard let memory = unsafe gst_allocator_alloc(raw, gsize(bytes.count), nil) else { throw .error }
    let data = unsafe Self.tail(of: memory).pointee.data
    unsafe bytes.withUnsafeBytes {
      if let base = $0.baseAddress { unsafe data.copyMemory(from: base, byteCount: $0.count) }
    }
    let buffer = unsafe gst_buffer_new()
    unsafe gst_buffer_append_memory(buffer, memory)
    guard let buffer = unsafe buffer else { throw .error }
    return unsafe Buffer(owning: buffer)
  }

  /// Makes downstream offer the allocator.
  func propose(to harness: Harness) {
    var parameters = GstAllocationParams()
    unsafe gst_allocation_params_init(&parameters)
    unsafe gst_object_ref(raw)
    unsafe gst_harness_set_propose_allocator(harness.raw, raw, &parameters)
  }

  private static func ledgers(of raw: UnsafeMutablePointer<GstAllocator>) -> UnsafeMutablePointer<Unmanaged<Ledger>> {
    unsafe UnsafeMutableRawPointer(raw + 1).assumingMemoryBound(to: Unmanaged<Ledger>.self)
  }

  private static func tail(of memory: UnsafeMutablePointer<GstMemory>) -> UnsafeMutablePointer<Tail> {
    unsafe UnsafeMutableRawPointer(memory + 1).assumingMemoryBound(to: Tail.self)
  }

  private static func memory(
    _ allocator: UnsafeMutablePointer<GstAllocator>?, _ parent: UnsafeMutablePointer<GstMemory>?, maxsize: gsize,
    offset: gsize, size: gsize
  ) -> UnsafeMutablePointer<GstMemory>? {
    let byteCount = unsafe gsize(MemoryLayout<GstMemory>.stride + MemoryLayout<Tail>.stride)
    guard let memory = unsafe g_malloc0(byteCount)?.assumingMemoryBound(to: GstMemory.self) else { return nil }
    unsafe gst_memory_init(memory, GstMemoryFlags(rawValue: 0), allocator, parent, maxsize, 0, offset, size)
    return unsafe memory
  }

  private static let type: GType = unsafe g_type_register_static_simple(
    gst_allocator_get_type(), "RefusingAllocator", guint(MemoryLayout<GstAllocatorClass>.size),
    { pointer, _ in
      let methods = unsafe pointer?.assumingMemoryBound(to: GstAllocatorClass.self)
      unsafe methods?.pointee.alloc = { allocator, size, parameters in
        guard let allocator = unsafe allocator else { return nil }
        let ledger = unsafe RefusingAllocator.ledgers(of: allocator).pointee
        let counter = unsafe ledger.takeUnretainedValue()
        let padding = unsafe parameters.map { unsafe $0.pointee.prefix + $0.pointee.padding } ?? 0
        guard counter.maps >= 0, let block = unsafe g_malloc0(size + padding + 512),
          let memory = unsafe RefusingAllocator.memory(
            allocator, nil, maxsize: size + padding, offset: 0, size: size)
        else { return nil }
        counter.balance.add(1, ordering: .relaxed)
        unsafe RefusingAllocator.tail(of: memory).initialize(
          to: Tail(
            rest: counter.maps, ledger: ledger, block: block, data: block.alignedUp(toMultipleOf: 256)))
        return unsafe memory
      }
      unsafe methods?.pointee.free = { _, memory in
        guard let memory = unsafe memory else { return }
        if unsafe memory.pointee.parent == nil {
          let tail = unsafe RefusingAllocator.tail(of: memory)
          unsafe tail.pointee.ledger.takeUnretainedValue().balance.subtract(1, ordering: .relaxed)
          unsafe g_free(tail.pointee.block)
        }
        unsafe g_free(memory)
      }
    }, guint(MemoryLayout<GstAllocator>.stride + MemoryLayout<Unmanaged<Ledger>>.stride), nil,
    GTypeFlags(rawValue: 0))
}
