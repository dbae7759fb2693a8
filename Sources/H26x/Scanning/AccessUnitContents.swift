// SPDX-License-Identifier: MPL-2.0

/// The kinds of NAL units and slices in an access unit, or in a NAL unit.
public struct AccessUnitContents: OptionSet, Sendable {
  /// A bit for each kind.
  public let rawValue: UInt32
  /// Creates a set of its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// An access unit delimiter.
  public static var delimiter: Self { Self(rawValue: 1 << 0) }
  /// An SPS, SPS extension, subset SPS or VPS.
  public static var sequenceParameterSet: Self { Self(rawValue: 1 << 1) }
  /// A PPS.
  public static var pictureParameterSet: Self { Self(rawValue: 1 << 2) }
  /// SEI.
  public static var sei: Self { Self(rawValue: 1 << 3) }
  /// A slice, of the base picture or of an extension layer.
  public static var slice: Self { Self(rawValue: 1 << 4) }
  /// A slice of an IDR picture.
  public static var idr: Self { Self(rawValue: 1 << 5) }
  /// A recovery point SEI message.
  public static var recoveryPoint: Self { Self(rawValue: 1 << 6) }
  /// An I or SI slice.
  public static var iSlice: Self { Self(rawValue: 1 << 7) }
  /// A P or SP slice.
  public static var pSlice: Self { Self(rawValue: 1 << 8) }
  /// A B slice.
  public static var bSlice: Self { Self(rawValue: 1 << 9) }
  /// Other pictures may refer to the picture of some slice.
  public static var reference: Self { Self(rawValue: 1 << 10) }
  /// The first slice of a picture: a buffer with it lasts for the duration of the picture.
  public static var pictureStart: Self { Self(rawValue: 1 << 11) }
  /// An access unit begins here.
  public static var accessUnitStart: Self { Self(rawValue: 1 << 12) }
  /// An access unit ends here.
  public static var accessUnitEnd: Self { Self(rawValue: 1 << 13) }
  /// Data was lost upstream or is damaged.
  public static var damaged: Self { Self(rawValue: 1 << 14) }
  /// A slice of a picture at which decoding may begin by its type: IDR, in H.265 every IRAP picture.
  public static var randomAccess: Self { Self(rawValue: 1 << 15) }
  /// A slice of a leading picture that cannot be decoded when decoding begins at the random access point before it.
  public static var skippedLeading: Self { Self(rawValue: 1 << 16) }
  /// A slice whose header cannot be read.
  public static var unreadableSlice: Self { Self(rawValue: 1 << 17) }

  /// An end of sequence, stream or bitstream.
  public static var endOfSequence: Self { Self(rawValue: 1 << 18) }

  /// SPS and PPS.
  public static var parameterSets: Self { [.sequenceParameterSet, .pictureParameterSet] }
  /// Parameter sets and SEI, which hold no picture data.
  public static var headers: Self { [.parameterSets, .sei] }

  /// Whether all slices of the base picture are I or SI slices, as far as their headers show.
  public var isIntra: Bool { contains(.iSlice) && isDisjoint(with: [.pSlice, .bSlice, .unreadableSlice]) }
}
