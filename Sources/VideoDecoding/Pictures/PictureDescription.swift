// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// A codec's report of a picture that it outputs, without the samples.
package struct PictureDescription: Sendable, Hashable {
  /// The index of the access unit that started the picture; nil if the codec has lost it.
  package var index: UInt64?
  /// Coded size in luma samples.
  package var width: Int, height: Int
  /// The crop that the stream signals, whether or not it is possible.
  package var crop = PictureCrop()
  /// Not all references of the picture were there.
  package var isCorrupt = false
  /// Errors met in decoding it.
  var errors = FrameErrors()
  /// Two fields, or an interlaced frame.
  package var isInterlaced = false
  /// The top field is the first of the two.
  var isTopFieldFirst = false
  /// The first field is displayed again after the second.
  var repeatsFirstField = false
  /// The color description of the samples.
  var colour = PictureColour()
  /// Width and height of a sample; nil when the stream does not signal them.
  var sampleAspectRatio: SampleAspectRatio?

  /// Describes a picture.
  package init(index: UInt64?, width: Int, height: Int) {
    self.index = index
    self.width = width
    self.height = height
  }

  init(_ frame: borrowing Frame) {
    self.init(index: UInt64(exactly: frame.timestamp), width: frame.width, height: frame.height)
    crop = PictureCrop(left: frame.cropLeft, right: frame.cropRight, top: frame.cropTop, bottom: frame.cropBottom)
    isCorrupt = frame.isCorrupt
    errors = frame.errors
    isInterlaced = frame.isInterlaced
    isTopFieldFirst = frame.isTopFieldFirst
    repeatsFirstField = frame.repeatCount == 1
    colour = PictureColour(frame)
    sampleAspectRatio = frame.sampleAspectRatio.map { SampleAspectRatio(width: $0.width, height: $0.height) }
  }
}

/// Color description of a picture, in code points of H.273 (H.264 E.2.1, H.265 E.3.1), nil if the stream does not
/// signal it.
public struct PictureColour: Sendable, Hashable {
  /// `video_full_range_flag`.
  public let isFullRange: Bool?
  /// `colour_primaries`.
  public let primaries: UInt8?
  /// `transfer_characteristics`.
  public let transfer: UInt8?
  /// `matrix_coefficients`.
  public let matrix: UInt8?
  /// `chroma_sample_loc_type`, 0 to 5.
  public let chromaSampleLocation: UInt8?

  /// A colour description; nothing is known without arguments.
  init(
    isFullRange: Bool? = nil, primaries: UInt8? = nil, transfer: UInt8? = nil, matrix: UInt8? = nil,
    chromaSampleLocation: UInt8? = nil
  ) {
    self.isFullRange = isFullRange
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
    self.chromaSampleLocation = chromaSampleLocation
  }

  init(_ frame: borrowing Frame) {
    let unspecified: UInt8 = 2
    isFullRange = frame.isFullRange
    primaries = frame.colourPrimaries == unspecified ? nil : frame.colourPrimaries
    transfer = frame.transferCharacteristics == unspecified ? nil : frame.transferCharacteristics
    matrix = frame.matrixCoefficients == unspecified ? nil : frame.matrixCoefficients
    chromaSampleLocation = frame.chromaSampleLocation
  }
}

/// The crop of a coded picture at each edge, in luma samples (H.264 7.4.2.1.1, H.265 7.4.3.2.1).
public struct PictureCrop: Sendable, Hashable {
  /// Columns and rows to crop.
  public var left = 0, right = 0, top = 0, bottom = 0
  /// Creates a crop; without arguments, of nothing.
  public init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }
}

/// Sample aspect ratio (H.264 Table E-1).
public struct SampleAspectRatio: Sendable, Hashable {
  /// Terms of the ratio, both positive.
  public let width: Int, height: Int
}
