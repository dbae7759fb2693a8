// SPDX-License-Identifier: MPL-2.0

/// A picture in another format or size, in its own memory.
public struct ConvertedPicture: Sendable {
  /// The tag of the picture that it was made of.
  public let tag: UInt64
  /// Presentation time, if known.
  public let time: Duration?
  /// The layout of the samples in ``bytes``.
  public let format: ConvertedFormat
  /// Width in samples, or in luma samples.
  public let width: Int
  /// Height in samples, or in luma samples.
  public let height: Int
  /// The color description of the samples. RGB has full range, no matrix, and the stream's transfer.
  public let colour: PictureColour
  /// All planes one after the other, from the top, rows without padding.
  public internal(set) var bytes: [UInt8]

  /// Bytes of a row of a plane, and from one row to the next; 0 for a plane that is not there.
  public func rowByteCount(plane: Int) -> Int {
    guard 0..<format.planeCount ~= plane else { return 0 }
    if format.isRGB { return width * 4 }
    return (plane == 0 ? width : 2 * chromaWidth) * format.bytesPerSample
  }

  /// Rows of a plane; 0 for one that is not there.
  public func rowCount(plane: Int) -> Int {
    guard 0..<format.planeCount ~= plane else { return 0 }
    return plane == 0 ? height : (height + (1 << format.chromaShift.vertical) - 1) >> format.chromaShift.vertical
  }

  /// The range of a plane's bytes; empty if there is no such plane.
  public func range(ofPlane plane: Int) -> Range<Int> {
    let luma = rowByteCount(plane: 0) * rowCount(plane: 0)
    return plane == 0 ? 0..<luma : luma..<luma + rowByteCount(plane: plane) * rowCount(plane: plane)
  }

  var chromaWidth: Int { (width + (1 << format.chromaShift.horizontal) - 1) >> format.chromaShift.horizontal }
}
