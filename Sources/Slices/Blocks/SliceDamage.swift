// SPDX-License-Identifier: MPL-2.0

package import H26x

/// The reason that slice data cannot be read further, and its place.
///
/// It allocates nothing: a stream with damage in every slice costs no more than a good one.
public struct SliceDamage: Error, Sendable {
  /// The kind of damage.
  public enum Reason: UInt8, Sendable {
    /// The slice header, or a parameter set that it refers to, cannot be read.
    case header
    /// The bits are no code of the syntax element.
    case illegalCode
    /// The value is outside the syntax element's legal range.
    case valueOutOfRange
    /// The data end before the slice does.
    case truncated
    /// The slice ends before its data do.
    case surplusData
    /// Bits between the syntax elements, or behind the last one, do not have the value that they must have.
    case badAlignment
    /// The slice goes on behind the last block of the picture.
    case beyondPicture
    /// The slice covers a block that another slice of the picture covers.
    case codedTwice
    /// A value differs from that in another slice of the picture, where it must be equal.
    case contradiction
    /// An entry point does not lie where a substream begins.
    case wrongEntryPoint
    /// The slice is legal, but this library does not read its kind.
    case unsupported
  }

  /// The kind of damage.
  public let reason: Reason

  /// The syntax element, by its name in the Recommendation.
  public let element: StaticString

  /// The clause of the Recommendation that is violated.
  public let clause: StaticString

  /// The address of the first impossible block: a macroblock, or a coding tree block in raster scan. Nil if the
  /// damage is in the header.
  public let block: Int?

  /// The place in bits from the start of the NAL unit, without emulation prevention bytes.
  public let bitOffset: Int

  /// Creates an error.
  public init(
    _ reason: Reason, _ element: StaticString, clause: StaticString, block: Int?, bitOffset: Int
  ) {
    self.reason = reason
    self.element = element
    self.clause = clause
    self.block = block
    self.bitOffset = bitOffset
  }

  /// The same damage, at the end of the data if a reader found it behind them.
  package func within(byteCount: Int) -> SliceDamage {
    SliceDamage(reason, element, clause: clause, block: block, bitOffset: min(bitOffset, 8 * byteCount))
  }

  /// Damage in the slice header.
  package init(_ error: BitstreamError, clause: StaticString) {
    self.init(.header, error.element, clause: clause, block: nil, bitOffset: error.bitOffset)
  }
}

extension SliceDamage: Equatable {
  /// Whether reason, element, clause and place are the same.
  public static func == (left: SliceDamage, right: SliceDamage) -> Bool {
    left.reason == right.reason && left.bitOffset == right.bitOffset && left.block == right.block
      && left.element.description == right.element.description
      && left.clause.description == right.clause.description
  }
}
