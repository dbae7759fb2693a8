// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import Synchronization

/// Connects libavcodec's `get_buffer2` to the session's allocator. It translates requests, keeps to one set of
/// strides, and records which access units have started a picture. It also provides planes for pictures that become
/// NV12 or P010, and chroma for monochrome.
package final class PictureBridge: FrameBufferSource {
  private struct State {
    var lock = StrideLock()
    var misses: UInt64 = 0
  }

  /// The strides of all pictures of one size, since libavcodec reads references with the current picture's strides.
  private struct StrideLock {
    var size: Size?
    var strides: [Int] = []
  }

  private struct Size: Equatable {
    let pixelFormat: PixelFormat
    let width: Int, height: Int

    init(_ request: PictureRequest) {
      pixelFormat = request.pixelFormat
      width = request.alignedWidth
      height = request.alignedHeight
    }
  }

  private let allocator: (any PictureAllocator)?
  let layout: SessionConfiguration.OutputLayout
  private let pool = PicturePool()
  private let scratchPool = PicturePool()
  private let state = Mutex(State())
  /// The access units for which the decoder has started a picture.
  let started: StartedPictures
  /// Which pictures stay in a device's memory.
  package let surfaces: SurfaceExport

  package init(
    allocator: (any PictureAllocator)?, layout: SessionConfiguration.OutputLayout,
    started: StartedPictures = StartedPictures(), surfaces: SurfaceExport = SurfaceExport()
  ) {
    self.allocator = allocator
    self.layout = layout
    self.started = started
    self.surfaces = surfaces
  }

  /// Pictures so far that did not go into the allocator's memory.
  var misses: UInt64 { state.withLock { $0.misses } }

  /// The decoder holds no reference any more: other strides may come.
  func unlockStrides() { state.withLock { $0.lock = StrideLock() } }

  /// The complete memory of a picture that is output. Its chroma is interleaved on request. If another process has
  /// written the memory, it is copied into the allocator's.
  func complete(_ memory: PictureMemory, _ picture: PictureDescription) -> PictureMemory {
    guard memory.surface == nil, var request = memory.sharedRequest, let allocator else {
      memory.finish(width: picture.width, height: picture.height)
      return memory
    }
    request.crop = picture.crop.bounded(width: picture.width, height: picture.height)
    guard let buffer = unsafe allocator.pictureBuffer(for: request), unsafe buffer.meets(request) else {
      state.withLock { $0.misses &+= 1 }
      return memory
    }
    let copy = unsafe PictureMemory(
      pixelFormat: request.pixelFormat, planes: buffer.planes, token: buffer.token, blocks: [])
    copy.copySamples(of: memory, width: picture.width, height: picture.height)
    return copy
  }

  package func buffer(for request: FrameBufferRequest) throws(AVError) -> FrameBuffer {
    // Last, so that code that finds the picture started also finds its memory. libavcodec passes pictures between its
    // threads in a way that sanitizers cannot observe.
    defer { if let index = UInt64(exactly: request.timestamp) { started.insert(index) } }
    let completed = Self.monochrome[request.format.rawValue]
    guard let written = completed ?? PixelFormat(request.format) else { throw .unsupportedFeature }
    let semiPlanar = layout == .semiPlanar ? written.semiPlanar : nil
    let wanted = PictureRequest(request, pixelFormat: semiPlanar ?? written)
    guard let memory = memory(for: wanted), let luma = unsafe memory.planes.first else { throw .outOfMemory }
    if completed != nil { memory.fillChroma() }
    var buffer = unsafe FrameBuffer(
      planes: memory.planes.map { unsafe $0.start }, strides: memory.planes.map { unsafe Int32(clamping: $0.stride) },
      byteCount: luma.byteCount, owner: memory)
    if let scratch = unsafe memory.scratch {
      let (start, stride) = unsafe scratch.luma ?? (luma.start, luma.stride)
      unsafe buffer.planes = unsafe [start, scratch.cb, scratch.cr]
      unsafe buffer.strides = [
        Int32(clamping: stride), Int32(clamping: scratch.stride), Int32(clamping: scratch.stride),
      ]
      unsafe buffer.byteCount = stride * wanted.rowCount(plane: 0)
    }
    if completed != nil {
      unsafe buffer.planes.removeLast(buffer.planes.count - 1)
      unsafe buffer.strides.removeLast(buffer.strides.count - 1)
    }
    return unsafe buffer
  }

  package var acceptsSemiPlanar: Bool { layout == .semiPlanar }

  package func hasBegun(timestamp: Int64) { if let index = UInt64(exactly: timestamp) { started.insert(index) } }

  package func placement(timestamp: Int64) -> SurfacePlacement {
    guard layout == .semiPlanar, let index = UInt64(exactly: timestamp) else { return .download }
    return surfaces.placement(of: index)
  }

  package func owner(of surface: ExportedSurface, samples: AnyObject?) -> AnyObject? {
    guard let held = surfaces.hold(surface) else { return nil }
    guard let samples else { return PictureMemory(held) }
    (samples as? PictureMemory)?.add(held)
    return samples
  }

  /// Copies a picture that this process holds in the device's memory.
  package func download(_ hold: SurfaceExport.Hold) throws(AVError) -> PictureMemory? {
    try hold.surface.download(to: self) as? PictureMemory
  }

  package func downloadBuffer(for request: FrameBufferRequest) throws(AVError) -> FrameBuffer {
    guard let written = PixelFormat(request.format) else { throw .unsupportedFeature }
    let wanted = PictureRequest(request, pixelFormat: written)
    guard let memory = memory(for: wanted, isInterleaved: true), let luma = unsafe memory.planes.first else {
      throw .outOfMemory
    }
    return unsafe FrameBuffer(
      planes: memory.planes.map { unsafe $0.start }, strides: memory.planes.map { unsafe Int32(clamping: $0.stride) },
      byteCount: luma.byteCount, owner: memory)
  }

  /// libavcodec's monochrome formats that hardly anything supports, and their replacement.
  private static let monochrome: [Int32: PixelFormat] = {
    var formats: [Int32: PixelFormat] = [:]
    for (name, format) in [("gray10le", PixelFormat.yuv420p10), ("gray12le", .yuv420p12)] {
      if let frameFormat = FrameFormat(name: name) { formats[frameFormat.rawValue] = format }
    }
    return formats
  }()

  /// The allocator's memory if it meets the request, else our own with the same strides.
  ///
  /// - Parameter isInterleaved: whether the writer writes interleaved chroma if the request's format has it.
  private func memory(for request: PictureRequest, isInterleaved: Bool = false) -> PictureMemory? {
    guard let scratch = unsafe isInterleaved ? PlanarScratch() : planarScratch(for: request) else { return nil }
    if let allocator, let buffer = unsafe allocator.pictureBuffer(for: request), unsafe buffer.meets(request),
      unsafe accept(strides: buffer.planes.map { unsafe $0.stride }, for: request)
    {
      return unsafe PictureMemory(
        pixelFormat: request.pixelFormat, planes: buffer.planes, token: buffer.token, blocks: scratch.blocks,
        scratch: scratch.planes)
    }
    let strides = state.withLock { state in
      if allocator != nil { state.misses &+= 1 }
      return state.lock.size == Size(request) ? state.lock.strides : []
    }
    return unsafe ownMemory(for: request, strides: strides, scratch: scratch)
  }

  /// Whether these strides match the other pictures of this size; the first picture of a size decides.
  private func accept(strides: [Int], for request: PictureRequest) -> Bool {
    settled(strides, for: request) == strides
  }

  /// The strides of all pictures of this size: these strides if the picture is the first.
  private func settled(_ strides: [Int], for request: PictureRequest) -> [Int] {
    state.withLock { state in
      let size = Size(request)
      if state.lock.size != size { state.lock = StrideLock(size: size, strides: strides) }
      return state.lock.strides
    }
  }

  @unsafe private struct PlanarScratch {
    var planes: PictureMemory.Scratch?
    var blocks: [PicturePool.Block] = []
  }

  /// Planes for libavcodec to write if the picture itself has interleaved chroma, or has its samples in the high
  /// bits; nil if out of memory.
  private func planarScratch(for request: PictureRequest) -> PlanarScratch? {
    guard request.pixelFormat.isSemiPlanar else { return unsafe PlanarScratch() }
    let layout = PlaneLayout(request.planar)
    // libavcodec writes NV12's luma in place.
    let unused = request.pixelFormat == .nv12 ? layout.offsets[1] : 0
    guard let block = scratchPool.block(byteCount: layout.byteCount - unused) else { return nil }
    let (cb, cr) = (layout.offsets[1] - unused, layout.offsets[2] - unused)
    let planes = unsafe PictureMemory.Scratch(
      luma: unused > 0 ? nil : (block.start, layout.strides[0]), cb: block.start + cb, cr: block.start + cr,
      stride: layout.strides[1], chromaByteCount: layout.planeByteCounts[1])
    return unsafe PlanarScratch(planes: planes, blocks: [block])
  }

  private func ownMemory(
    for request: PictureRequest, strides locked: [Int], scratch: PlanarScratch
  ) -> PictureMemory? {
    var strides = locked
    if strides.isEmpty {
      // Another thread may have been first, with the allocator's strides.
      strides = settled(PlaneLayout(request).strides, for: request)
    }
    let layout = PlaneLayout(request, strides: strides)
    guard let block = pool.block(byteCount: layout.byteCount) else { return nil }
    return unsafe PictureMemory(
      pixelFormat: request.pixelFormat, planes: layout.planes(at: block.start), token: nil,
      blocks: scratch.blocks + [block], scratch: scratch.planes)
  }
}

/// Which of the last access units have started a picture, in a ring of their indices, so that it never grows. Written
/// by libavcodec's threads.
package final class StartedPictures: Sendable {
  /// More than can be inside a decoder: 16 frames of two fields, and all threads.
  private static let capacity = 1024
  private let keepsInsertions: Bool
  private let state = Mutex(State())

  private struct State {
    var slots = [UInt64](repeating: .max, count: capacity)
    var insertions: [UInt64] = []
  }

  /// - Parameter keepsInsertions: `takeInsertions` is called, and returns them.
  package init(keepsInsertions: Bool = false) { self.keepsInsertions = keepsInsertions }

  func insert(_ index: UInt64) {
    state.withLock { state in
      state.slots[Int(index % UInt64(Self.capacity))] = index
      if keepsInsertions { state.insertions.append(index) }
    }
  }

  func contains(_ index: UInt64) -> Bool { state.withLock { $0.slots[Int(index % UInt64(Self.capacity))] == index } }

  /// Returns the indices inserted since the last call.
  package func takeInsertions() -> [UInt64] {
    state.withLock { state in
      defer { state.insertions.removeAll(keepingCapacity: true) }
      return state.insertions
    }
  }
}
