// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import Synchronization

/// Which pictures of a device stay in its memory, and how many do.
///
/// A device decodes into a fixed number of surfaces. When more are held behind the decoder than it can spare, pictures
/// are downloaded until the next flush: a decoder never waits for a surface.
package final class SurfaceExport: Sendable {
  /// Keeps a picture in the device's memory.
  package final class Hold: Sendable {
    package let surface: ExportedSurface
    private let export: SurfaceExport

    fileprivate init(_ surface: ExportedSurface, of export: SurfaceExport) {
      self.surface = surface
      self.export = export
    }

    deinit { export.state.withLock { $0.heldCount -= 1 } }
  }

  private struct State {
    var isWanted: Bool
    var isDraining = false
    /// More were held than the decoder can spare.
    var isExhausted = false
    var heldCount = 0
    /// Pictures whose samples are needed, too.
    var sampled: [UInt64] = []
  }

  /// Pictures that may be held.
  let limit: Int
  /// Whether descriptors are checked here. The receiver checks those of another process.
  private let checksKind: Bool
  private let state: Mutex<State>

  package init(limit: Int = 0, checksKind: Bool = true) {
    self.limit = limit
    self.checksKind = checksKind
    state = Mutex(State(isWanted: limit > 0))
  }

  /// Whether pictures stay in the device's memory, starting with the next picture.
  package var isWanted: Bool {
    get { state.withLock { $0.isWanted } }
    set { state.withLock { $0.isWanted = newValue } }
  }

  /// The decoder outputs everything inside. The surfaces of these pictures are none that it lacks.
  package var isDraining: Bool {
    get { state.withLock { $0.isDraining } }
    set { state.withLock { $0.isDraining = newValue } }
  }

  /// The samples of the picture of an access unit are needed, wherever it stays.
  package func requireSamples(of index: UInt64) {
    guard limit > 0 else { return }
    state.withLock { state in
      guard !state.sampled.contains(index) else { return }
      // Decoders reorder 16 pictures at most: older pictures have come out, or never will.
      if state.sampled.count == 64 { state.sampled.removeFirst() }
      state.sampled.append(index)
    }
  }

  /// Whether the samples of the picture of an access unit are needed.
  func requiresSamples(of index: UInt64) -> Bool { state.withLock { $0.sampled.contains(index) } }

  /// A flush.
  package func flush() {
    state.withLock { state in
      state.isExhausted = false
      state.sampled = []
    }
  }

  /// The placement of an access unit's picture.
  func placement(of index: UInt64) -> SurfacePlacement {
    state.withLock { state in
      guard state.isWanted, !state.isExhausted else { return .download }
      guard state.heldCount < (state.isDraining ? 2 * limit : limit) else {
        state.isExhausted = true
        return .download
      }
      return state.sampled.contains(index) ? .exportAndDownload : .export
    }
  }

  /// Keeps a picture in the device's memory; nil if its descriptors are not of such memory.
  func hold(_ surface: ExportedSurface) -> PictureSurface? {
    let objects = surface.description.objects
    guard !checksKind || objects.allSatisfy({ PictureSurface.isDeviceMemory($0.descriptor) }) else { return nil }
    state.withLock { $0.heldCount += 1 }
    return PictureSurface(description: surface.description, keeper: Hold(surface, of: self))
  }
}
