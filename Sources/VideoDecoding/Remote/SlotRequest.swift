// SPDX-License-Identifier: MPL-2.0
import AVCodec
package import CodecLink

/// A codec process's request for picture memory. Both processes derive the planes' layout from it.
package struct SlotRequest {
  /// Counts the requests of a session: slots that are granted later belong to the last one.
  package let number: UInt32
  /// The picture that needs the memory.
  package let picture: PictureRequest

  /// Libavcodec writes this many luma samples beyond the coded size, at most.
  private static let largestMargin = 512
  /// Alignments of strides, at most.
  private static let largestAlignment = 4096

  package init(number: UInt32, picture: PictureRequest) {
    self.number = number
    self.picture = picture
  }

  /// Bytes of a slot.
  package var byteCount: Int { PlaneLayout(picture).byteCount }

  /// Whether the picture may have this many luma samples.
  func isWithin(_ maximumPixels: Int) -> Bool { picture.codedWidth * picture.codedHeight <= maximumPixels }

  /// Reads the record.
  ///
  /// - Throws: `LinkError.invalid` for sizes and alignments that no decoder requests.
  package init(reading reader: inout MessageReader) throws(LinkError) {
    number = try reader.read()
    let formats = PixelFormat.allCases
    let format = formats[try reader.readCount(limit: formats.count - 1)]
    let (width, height) = (try reader.readCount(limit: 1 << 16), try reader.readCount(limit: 1 << 16))
    let crop = try reader.readCrop().bounded(width: width, height: height)
    let margin = Self.largestMargin
    let (alignedWidth, alignedHeight) = (
      try reader.readCount(limit: width + margin), try reader.readCount(limit: height + margin)
    )
    let alignment = try reader.readCount(limit: Self.largestAlignment)
    guard width > 0, height > 0, alignedWidth >= width, alignedHeight >= height, alignment > 0,
      alignment & (alignment - 1) == 0
    else { throw .invalid }
    picture = PictureRequest(
      pixelFormat: format, codedWidth: width, codedHeight: height, crop: crop, alignedWidth: alignedWidth,
      alignedHeight: alignedHeight, strideAlignment: alignment)
  }

  /// Appends the record to a message.
  package func write(to writer: inout MessageWriter) {
    writer.append(number)
    writer.append(count: PixelFormat.allCases.firstIndex(of: picture.pixelFormat) ?? 0)
    writer.append(count: picture.codedWidth)
    writer.append(count: picture.codedHeight)
    writer.append(picture.crop)
    writer.append(count: picture.alignedWidth)
    writer.append(count: picture.alignedHeight)
    writer.append(count: picture.strideAlignment)
  }
}
