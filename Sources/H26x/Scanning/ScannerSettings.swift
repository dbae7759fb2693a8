// SPDX-License-Identifier: MPL-2.0

/// A scanner's settings.
public struct ScannerSettings: Sendable, Hashable {
  /// The packaging of the input.
  public var packaging = NALPackaging.annexB
  /// The contents of one buffer of the input.
  public var inputAlignment = ScannerInputAlignment.none
  /// Whether the stream is split into NAL units rather than access units.
  public var cutsNALUnits = false
  /// Whether the NAL units of an access unit are listed in it.
  public var listsNALUnits = false
  /// How far the header of a piece's first slice is read: picture order counts need all of it.
  public var sliceDepth = SliceHeaderDepth.pictureIdentity
  /// Whether slices with an unreadable PPS are pieces anyway: a decoder may be able to read it. So are slices without
  /// a PPS in one piece with an SPS, which may be the only one.
  @usableFromInline package var sparesUnreadablePictureParameterSets = true

  /// Creates settings for Annex B in buffers of any size, split into access units.
  public init() {}
}
