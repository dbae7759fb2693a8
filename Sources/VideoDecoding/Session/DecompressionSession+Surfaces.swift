// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Pictures that stay in a device's memory.
extension DecompressionSession {
  /// Whether a device's pictures stay in its memory, from the next one on; only with
  /// ``SessionConfiguration/OutputMemory/device``.
  package var keepsSurfaces: Bool {
    get { bridge.surfaces.limit > 0 && bridge.surfaces.isWanted }
    set { bridge.surfaces.isWanted = newValue }
  }

  /// The picture with planes that can be read: a copy if it lies in the device's memory only. `nil` if its decoder is
  /// gone.
  package func readable(_ picture: DecodedPicture) -> DecodedPicture? {
    guard !picture.hasSamples, let surface = picture.memory.surface else { return picture }
    do throws(AVError) {
      let memory =
        if let hold = surface.hold { try bridge.download(hold) } else {
          try codec?.samples(of: surface, width: picture.codedWidth, height: picture.codedHeight)
        }
      return memory.map { DecodedPicture(picture.description, picture.status, in: $0) }
    } catch { return nil }
  }
}
