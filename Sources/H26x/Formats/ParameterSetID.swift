// SPDX-License-Identifier: MPL-2.0

/// The id of a parameter set, by which other structures refer to it. Ids of different kinds are different types: the
/// id of a PPS cannot be taken for an id of an SPS.
///
/// The maximum depends on kind and codec. In H.264 it is 31 for SPS and 255 for PPS (7.4.2). In H.265 it is 15 for VPS
/// and SPS and 63 for PPS (7.4.3).
public struct ParameterSetID<Kind>: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
{
  /// The value in the stream.
  public let rawValue: UInt8

  /// Creates an id; any value can be one.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Creates an id.
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// Creates an id.
  public init(integerLiteral value: UInt8) { rawValue = value }

  /// The value in decimal digits.
  public var description: String { "\(rawValue)" }

  /// Orders ids by value.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The kind of parameter sets that an id belongs to.
public enum ParameterSetKind {
  /// Video parameter sets.
  public enum Video {}
  /// Sequence parameter sets.
  public enum Sequence {}
  /// Picture parameter sets.
  public enum Picture {}
}

/// The id of a VPS.
public typealias VideoParameterSetID = ParameterSetID<ParameterSetKind.Video>
/// The id of an SPS.
public typealias SequenceParameterSetID = ParameterSetID<ParameterSetKind.Sequence>
/// The id of a PPS.
public typealias PictureParameterSetID = ParameterSetID<ParameterSetKind.Picture>
