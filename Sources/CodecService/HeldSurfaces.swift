// SPDX-License-Identifier: MPL-2.0
import CodecLink
import VideoDecoding

/// In a codec process: the pictures in the device's memory that the application holds.
struct HeldSurfaces {
  /// By their numbers.
  private var surfaces: [PictureSurface?] = []

  /// Keeps a surface; returns the number by which it is released. `nil` if no number is left.
  mutating func insert(_ surface: PictureSurface) -> Int? {
    if let free = surfaces.indices.first(where: { surfaces[$0] == nil }) {
      surfaces[free] = surface
      return free
    }
    guard surfaces.count < CodecReply.surfaceLimit else { return nil }
    surfaces.append(surface)
    return surfaces.count - 1
  }

  /// The surface with this number; `nil` if the application does not hold it.
  subscript(number: Int) -> PictureSurface? { surfaces.indices.contains(number) ? surfaces[number] : nil }

  /// The application needs it no more.
  ///
  /// - Throws: `LinkError.invalid` if the application does not hold it.
  mutating func release(_ number: Int) throws(LinkError) {
    guard self[number] != nil else { throw .invalid }
    surfaces[number] = nil
  }
}
