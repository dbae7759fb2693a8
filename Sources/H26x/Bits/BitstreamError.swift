// SPDX-License-Identifier: MPL-2.0

/// The reason that a piece of bitstream could not be read or written, and its place.
///
/// It allocates nothing, since the syntax element is a `StaticString`: a stream with an error in every NAL unit costs
/// no more than a good one.
public struct BitstreamError: Error, Sendable {
  /// The kind of error.
  public enum Reason: UInt8, Sendable {
    /// The data ended inside the syntax element.
    case truncated
    /// The value is outside the syntax element's legal range.
    case valueOutOfRange
    /// An Exp-Golomb code of 32 or more leading zero bits (9.1).
    case codeTooLong
    /// `rbsp_trailing_bits()` is missing, or not a one followed by zeros (7.3.2.11).
    case badTrailingBits
    /// `forbidden_zero_bit` is one (7.4.1).
    case forbiddenBitSet
    /// The NAL unit is not of the type of the syntax structure.
    case wrongNALUnitType
    /// A parameter set that is referred to was never received.
    case missingParameterSet
    /// The length in front of a NAL unit points past the end of the data.
    case lengthOutOfBounds
    /// The NAL unit is too long for the length field in front of it.
    case lengthNotRepresentable
    /// The caller's output has no room for the result.
    case outputTooSmall
    /// The value is legal or reserved, but this library does not support it.
    case unsupported
  }

  /// A part of a parameter set whose errors decide how the set is treated.
  package enum Part: Sendable {
    /// The width or height of pictures.
    case pictureSize
    /// An entry of a scaling list of H.264.
    case scalingList
  }

  /// The kind of error.
  public let reason: Reason

  /// The part of a parameter set that could not be read, if it is one of those.
  package let part: Part?

  /// The syntax element, by its name in the specification.
  public let element: StaticString

  /// The start of the syntax element, in bits from the start of the NAL unit or record, without emulation prevention
  /// bytes.
  public let bitOffset: Int

  /// Creates an error.
  public init(_ reason: Reason, _ element: StaticString, bitOffset: Int) {
    self.init(reason, element, part: nil, bitOffset: bitOffset)
  }

  /// Creates an error in a part of a parameter set.
  init(_ reason: Reason, _ element: StaticString, part: Part?, bitOffset: Int) {
    self.reason = reason
    self.part = part
    self.element = element
    self.bitOffset = bitOffset
  }

  /// Creates an error at a byte. If an Int has 32 bits, all offsets beyond the first 256 MiB are equal.
  package init(_ reason: Reason, _ element: StaticString, byteOffset: Int) {
    self.init(reason, element, bitOffset: min(byteOffset, Int.max >> 3) * 8)
  }
}

extension BitstreamError: Equatable {
  /// Whether reason, element and place are the same.
  public static func == (left: BitstreamError, right: BitstreamError) -> Bool {
    left.reason == right.reason && left.bitOffset == right.bitOffset
      && left.element.description == right.element.description
  }
}

extension BitstreamError: CustomStringConvertible {
  /// For people: "valueOutOfRange in slice_type at bit 9".
  public var description: String { "\(reason) in \(element) at bit \(bitOffset)" }
}
