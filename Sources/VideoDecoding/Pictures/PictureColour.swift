// SPDX-License-Identifier: MPL-2.0
import AVCodec

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
