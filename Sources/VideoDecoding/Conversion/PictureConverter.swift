// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Converts decoded pictures to NV12, P010 and their kin, to BGRA or RGBA, and to other sizes.
///
/// ```swift
/// let thumbnails = PictureConverter(to: .bgra, size: VideoSize(width: 160, height: 90))
/// for try await picture in DecodedPictures(of: accessUnits) { show(thumbnails.convert(picture)) }
/// ```
///
/// It is written for thumbnails, stills and tests, runs on the caller's thread and needs nothing but the processor. A
/// player leaves the conversion to the graphics card or to GStreamer's `videoconvert`; NV12 of 8-bit video costs less as
/// ``SessionConfiguration/OutputLayout/semiPlanar``.
public struct PictureConverter: Sendable, Hashable {
  /// What to convert to.
  public enum Target: Sendable, Hashable, CaseIterable {
    /// Luma, and interleaved chroma, as deep and as finely sampled as in the stream: NV12, NV16, NV24, P010, P210, P410
    /// and deeper ones. Only the packing changes. Monochrome gets neutral chroma. G, B and R of RGB video are taken for
    /// Y, Cb and Cr, as matrix 0 of H.273 means.
    case semiPlanar
    /// Blue, green, red and alpha of 8 bits, by the stream's matrix and range; where it signals none, BT.709 for at
    /// least 720 rows, and BT.601 below. Transfer and primaries stay as they are: HDR is not mapped to SDR.
    case bgra
    /// As `bgra` in another order.
    case rgba
  }

  /// What to convert to.
  public var target: Target
  /// Size in samples, at most 16,384 each way; nil for that of each picture. ``DecodedPicture/presentationSize`` is the
  /// one with square pixels.
  public var size: VideoSize?

  /// Creates a converter.
  ///
  /// - Parameters:
  ///   - target: what to convert to.
  ///   - size: width and height in samples; nil for those of each picture. A smaller picture's samples are means of the
  ///     larger one's; a larger picture repeats samples. Interlaced pictures are scaled as if they were progressive.
  public init(to target: Target, size: VideoSize? = nil) {
    self.target = target
    self.size = size
  }

  /// Converts a picture.
  public func convert(_ picture: DecodedPicture) -> ConvertedPicture {
    let limit = 1...16_384
    let width = min(max(size?.width ?? picture.width, limit.lowerBound), limit.upperBound)
    let height = min(max(size?.height ?? picture.height, limit.lowerBound), limit.upperBound)
    let source = SourcePlanes(picture)
    switch target {
    case .semiPlanar: return semiPlanar(picture, source, width, height)
    case .bgra, .rgba: return packedRGB(picture, source, width, height)
    }
  }

  private func semiPlanar(
    _ picture: DecodedPicture, _ source: SourcePlanes, _ width: Int, _ height: Int
  ) -> ConvertedPicture {
    var result = ConvertedPicture(
      tag: picture.tag, time: picture.time, format: ConvertedFormat(semiPlanar: picture.pixelFormat), width: width,
      height: height, colour: picture.colour, bytes: [])
    let luma = source.planes[0].scaled(width, height)
    let (chromaWidth, chromaHeight) = (result.chromaWidth, result.rowCount(plane: 1))
    let blue = source.chroma(1).scaled(chromaWidth, chromaHeight)
    let red = source.chroma(2).scaled(chromaWidth, chromaHeight)
    let isWide = result.format.bytesPerSample == 2
    // The high bits of 16.
    let shift = UInt16(isWide ? 16 - picture.pixelFormat.bitDepth : 0)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(result.range(ofPlane: 1).upperBound)
    func append(_ sample: UInt16) {
      let value = sample << shift
      bytes.append(UInt8(truncatingIfNeeded: value))
      if isWide { bytes.append(UInt8(truncatingIfNeeded: value >> 8)) }
    }
    for sample in luma.samples { append(sample) }
    for index in blue.samples.indices {
      append(blue.samples[index])
      append(red.samples[index])
    }
    result.bytes = bytes
    return result
  }

  private func packedRGB(
    _ picture: DecodedPicture, _ source: SourcePlanes, _ width: Int, _ height: Int
  ) -> ConvertedPicture {
    let matrix = ColourMatrix(picture)
    let planes = [source.planes[0], source.chroma(1), source.chroma(2)].map { $0.scaled(width, height) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 * width * height)
    let isRedFirst = target == .rgba
    for index in 0..<width * height {
      let (red, green, blue) = matrix.rgb(
        Int32(planes[0].samples[index]), Int32(planes[1].samples[index]), Int32(planes[2].samples[index]))
      bytes.append(isRedFirst ? red : blue)
      bytes.append(green)
      bytes.append(isRedFirst ? blue : red)
      bytes.append(255)
    }
    let colour = PictureColour(
      isFullRange: true, primaries: picture.colour.primaries, transfer: picture.colour.transfer, matrix: 0)
    return ConvertedPicture(
      tag: picture.tag, time: picture.time, format: isRedFirst ? .rgba : .bgra, width: width, height: height,
      colour: colour, bytes: bytes)
  }
}
