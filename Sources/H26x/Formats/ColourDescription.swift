// SPDX-License-Identifier: MPL-2.0

/// Code points of ITU-T H.273, common to H.264 and H.265.
public struct ColourDescription: Sendable, Hashable {
  /// `colour_primaries`; 2 is unspecified.
  public var primaries: UInt8
  /// `transfer_characteristics`; 2 is unspecified.
  public var transfer: UInt8
  /// `matrix_coefficients`; 2 is unspecified.
  public var matrix: UInt8

  /// Creates a description.
  public init(primaries: UInt8, transfer: UInt8, matrix: UInt8) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
  }
}
