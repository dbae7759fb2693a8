// SPDX-License-Identifier: MPL-2.0

/// An SEI message that is added to access units.
public struct SEIInsertion: Sendable, Hashable {
  /// The access units that get it.
  public enum Place: Sendable, Hashable {
    /// Those with an IDR or IRAP picture, or a recovery point.
    case keyframes
    /// Those with these numbers in decoding order, from 0.
    case accessUnits(Set<Int>)

    /// The numbers; none for ``keyframes``.
    package var accessUnits: Set<Int> { if case .accessUnits(let numbers) = self { numbers } else { [] } }
  }

  /// `payloadType`.
  public let type: SEIPayloadType
  /// The payload, without emulation prevention bytes.
  public let payload: [UInt8]
  /// The access units that get it.
  public let place: Place

  /// Creates an insertion.
  public init(_ type: SEIPayloadType, payload: [UInt8], at place: Place) {
    (self.type, self.payload, self.place) = (type, payload, place)
  }
}
