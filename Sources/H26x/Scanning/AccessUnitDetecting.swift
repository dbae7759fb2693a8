// SPDX-License-Identifier: MPL-2.0

/// Finds where access units begin. A small value without references; feed it every NAL unit in order.
public protocol AccessUnitDetecting: Sendable {
  /// The slice headers that it reads.
  associatedtype SliceHeader: SliceHeaderSyntax
  /// The parameter sets to read slices with.
  associatedtype ParameterSets: Sendable

  /// Creates a detector that has seen nothing: the first NAL unit begins an access unit.
  init()
  /// Starts over, as after a seek.
  mutating func reset()
  /// Whether the current access unit has a slice of its base picture.
  var hasPrimaryPicture: Bool { get }
  /// Feeds a NAL unit, reading its slice header as far as needed. The first bytes of slices are enough.
  ///
  /// - Returns: the boundary, and the slice header if it could be read.
  mutating func feed(
    _ nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
  ) -> (boundary: AccessUnitBoundary, slice: SliceHeader?)
  /// Feeds a slice of the base picture whose header was read, at any depth.
  mutating func feed(_ slice: SliceHeader) -> AccessUnitBoundary
}

/// The role of a NAL unit at the border of access units.
public enum AccessUnitBoundary: Sendable, Hashable {
  /// It belongs to the access unit of the NAL unit before.
  case continues
  /// It begins an access unit.
  case begins
  /// It belongs to the next slice (H.264's prefix NAL unit). If the next NAL unit ``begins`` an access unit, that one
  /// begins here.
  case followsNext
}
