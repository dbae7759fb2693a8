// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Converts decoded pictures to NV12, P010 and their kin, to BGRA or RGBA, and to other sizes.
///
/// ```swift
/// let thumbnails = PictureConverter(to: .bgra, size: VideoSize(width: 160, height: 90))
/// for try await picture in DecodedPictures(of: accessUnits) { show(thumbnails.convert(picture)) }
/// ```
///
/// The converter is meant for thumbnails, stills and tests. It runs on the caller's thread and needs nothing but the
/// processor. A player leaves the conversion to the graphics card or to GStreamer's `videoconvert`. For NV12 of 8-bit
/// video, ``SessionConfiguration/OutputLayout/semiPlanar`` costs less.
public struct PictureConverter: Sendable, Hashable {
  /// The format to convert to.
  public enum Target: Sendable, Hashable, CaseIterable {
    /// Luma, and interleaved chroma, with the stream's bit depth and chroma sampling: NV12, NV16, NV24, P010, P210,
    /// P410 and deeper formats. Only the packing changes. Monochrome gets neutral chroma. G, B and R of RGB video are
    /// used as Y, Cb and Cr, according to matrix 0 of H.273.
    case semiPlanar
    /// Blue, green, red and alpha of 8 bits, by the stream's matrix and range. If the stream signals none, BT.709
    /// applies for at least 720 rows, and BT.601 below. Transfer and primaries stay as they are: HDR is not mapped to
    /// SDR.
    case bgra
    /// As `bgra` in another order.
    case rgba
  }

  /// The format to convert to.
  public var target: Target
  /// Size in samples, at most 16,384 each way; nil for each picture's own size. ``DecodedPicture/presentationSize``
  /// is the size with square pixels.
  public var size: VideoSize?

  /// Creates a converter.
  ///
  /// - Parameters:
  ///   - target: the format to convert to.
  ///   - size: width and height in samples; nil for each picture's own size. A smaller picture's samples are means of
  ///     the larger picture's; a larger picture repeats samples. Interlaced pictures are scaled as if they were
  ///     progressive.
  public init(to target: Target, size: VideoSize? = nil) {
    self.target = target
    self.size = size
  }

  /// Converts a picture.
  public func convert(_ picture: DecodedPicture) -> ConvertedPicture {
    let limit = 1...16_384
    let width = min(max(size?.width ?? picture.width, limit.lowerBound), limit.upperBound)
    let height = min(max(size?.height ?? picture.height, limit.lowerBound), limit.upperBound)
    switch target {
    case .semiPlanar: return semiPlanar(picture, width, height)
    case .bgra: return packedRGB(picture, width, height, isRedFirst: false)
    case .rgba: return packedRGB(picture, width, height, isRedFirst: true)
    }
  }

  private func semiPlanar(_ picture: DecodedPicture, _ width: Int, _ height: Int) -> ConvertedPicture {
    var result = ConvertedPicture(
      tag: picture.tag, time: picture.time, format: ConvertedFormat(semiPlanar: picture.pixelFormat), width: width,
      height: height, colour: picture.colour, bytes: [])
    let (chromaWidth, chromaHeight) = (result.chromaWidth, result.rowCount(plane: 1))
    var luma = ComponentScaler(0, of: picture, width: width, height: height)
    var blue = ComponentScaler(1, of: picture, width: chromaWidth, height: chromaHeight)
    var red = ComponentScaler(2, of: picture, width: chromaWidth, height: chromaHeight)
    let isWide = result.format.bytesPerSample == 2
    // The high bits of 16.
    let shift = UInt16(isWide ? 16 - picture.pixelFormat.bitDepth : 0)
    let size = result.range(ofPlane: 1).upperBound
    result.bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      guard var target = unsafe buffer.baseAddress.map({ UnsafeMutableRawPointer($0) }) else { return }
      // SAFETY: the rows that are written have `size` bytes together.
      func write(_ samples: [UInt16], first: Int, step: Int) {
        unsafe samples.withUnsafeBufferPointer { samples in
          for index in samples.indices {
            let (sample, place) = unsafe (samples[index] << shift, first + step * index)
            if isWide {
              unsafe target.storeBytes(of: sample.littleEndian, toByteOffset: 2 * place, as: UInt16.self)
            } else {
              unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: sample), toByteOffset: place, as: UInt8.self)
            }
          }
        }
      }
      for row in 0..<height {
        luma.read(row, of: picture.plane(0))
        write(luma.samples, first: 0, step: 1)
        unsafe target += result.rowByteCount(plane: 0)
      }
      for row in 0..<chromaHeight {
        blue.read(row, of: picture.plane(1))
        // Semi-planar pictures have both in one plane.
        red.read(row, of: picture.plane(min(2, picture.planeCount - 1)))
        write(blue.samples, first: 0, step: 2)
        write(red.samples, first: 1, step: 2)
        unsafe target += result.rowByteCount(plane: 1)
      }
      count = size
    }
    return result
  }

  private func packedRGB(_ picture: DecodedPicture, _ width: Int, _ height: Int, isRedFirst: Bool) -> ConvertedPicture {
    let matrix = ColourMatrix(picture)
    var first = ComponentScaler(0, of: picture, width: width, height: height)
    var second = ComponentScaler(1, of: picture, width: width, height: height)
    var third = ComponentScaler(2, of: picture, width: width, height: height)
    let size = 4 * width * height
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      guard let target = unsafe buffer.baseAddress.map({ UnsafeMutableRawPointer($0) }) else { return }
      for row in 0..<height {
        first.read(row, of: picture.plane(0))
        second.read(row, of: picture.plane(1))
        third.read(row, of: picture.plane(min(2, picture.planeCount - 1)))
        // SAFETY: each row of samples has `width`, and `target` has room for all rows of pixels.
        unsafe first.samples.withUnsafeBufferPointer { first in
          unsafe second.samples.withUnsafeBufferPointer { second in
            unsafe third.samples.withUnsafeBufferPointer { third in
              unsafe matrix.write(first, second, third, isRedFirst: isRedFirst, to: target + 4 * width * row)
            }
          }
        }
      }
      count = size
    }
    let colour = PictureColour(
      isFullRange: true, primaries: picture.colour.primaries, transfer: picture.colour.transfer, matrix: 0)
    return ConvertedPicture(
      tag: picture.tag, time: picture.time, format: isRedFirst ? .rgba : .bgra, width: width, height: height,
      colour: colour, bytes: bytes)
  }
}

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
