// SPDX-License-Identifier: MPL-2.0

/// The preference of autopluggers for an element (`GstRank`).
public struct Rank: RawRepresentable, Hashable, Sendable {
  /// Autopluggers choose the highest.
  public let rawValue: UInt32
  /// A rank of this value.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Never chosen automatically.
  public static var none: Self { Self(rawValue: 0) }
  /// Chosen when there is no other.
  public static var marginal: Self { Self(rawValue: 64) }
  /// Chosen when there is no primary element.
  public static var secondary: Self { Self(rawValue: 128) }
  /// Chosen first.
  public static var primary: Self { Self(rawValue: 256) }
}
