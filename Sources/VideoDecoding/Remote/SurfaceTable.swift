// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Synchronization

/// In the application: the pictures of a codec process that stay in a device's memory.
final class SurfaceTable: Sendable {
  private struct State: Sendable {
    /// The numbers of surfaces that pictures hold: a few.
    var held: [Int] = []
    /// Numbers that are no longer needed, and that the process has not been sent yet.
    var released: [Int] = []
  }

  /// A picture holds its surface; the last reference ends that.
  private final class Lease: Sendable {
    let number: Int
    private let descriptors: DescriptorSet
    let table: SurfaceTable

    init(_ number: Int, _ descriptors: DescriptorSet, of table: SurfaceTable) {
      self.number = number
      self.descriptors = descriptors
      self.table = table
    }

    deinit { table.release(number) }
  }

  /// Surfaces that the process may pass on before one is released.
  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// Takes a picture of this size.
  ///
  /// - Throws: `LinkError.invalid` if the surface does not lie within the descriptors' memory, if that is not a
  ///   device's memory, and if the number is taken.
  func surface(
    _ record: SurfaceRecord, _ descriptors: DescriptorSet, width: Int, height: Int
  ) throws(LinkError) -> PictureSurface {
    var description = record.description
    for descriptor in descriptors.numbers {
      guard PictureSurface.isDeviceMemory(descriptor), let byteCount = PictureSurface.byteCount(descriptor) else {
        throw .invalid
      }
      description.objects.append(SurfaceDescription.Object(descriptor: descriptor, byteCount: byteCount))
    }
    guard description.holds(width: width, height: height) else { throw .invalid }
    try state.withLock { state throws(LinkError) in
      // A released number belongs to the process again only after it was sent.
      guard state.held.count + state.released.count < limit, !state.released.contains(record.number),
        !state.held.contains(record.number)
      else { throw .invalid }
      state.held.append(record.number)
    }
    return PictureSurface(description: description, keeper: Lease(record.number, descriptors, of: self))
  }

  /// The number of a picture's surface; `nil` if it is another process's.
  func number(of surface: PictureSurface) -> Int? {
    guard let lease = surface.keeper as? Lease, lease.table === self else { return nil }
    return lease.number
  }

  /// The surfaces that nothing needs any more since the last call.
  func takeReleased() -> [Int] { state.withLock { state in exchange(&state.released, with: []) } }

  private func release(_ number: Int) {
    state.withLock { state in
      if let index = state.held.firstIndex(of: number) { state.held.remove(at: index) }
      state.released.append(number)
    }
  }
}
