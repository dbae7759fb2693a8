// SPDX-License-Identifier: MPL-2.0

/// The findings of one pass over an access unit.
public struct AccessUnitInfo<Codec: VideoCodecSyntax>: Sendable {
  /// Whether decoding can start here.
  public enum RandomAccess: Sendable, Hashable {
    /// No.
    case none
    /// Immediately and cleanly.
    case idr
    /// At a CRA or BLA picture (H.265), whose RASL pictures then cannot be decoded.
    case irap
    /// By a recovery point SEI message.
    case recoveryPoint(Codec.RecoveryPoint)
  }

  /// Whether decoding can start here.
  public var randomAccess: RandomAccess = .none
  /// Whether there is a parameter set.
  public var hasParameterSets = false
  /// Whether one of them is new, or differs from the set before with the same id.
  public var changesParameterSets = false
  /// The first slice of the base picture that could be read.
  public var slice: Codec.SliceHeader?
  /// Whether there is any coded slice of the base picture, readable or not.
  public var hasPicture = false
  /// Whether every readable slice of the base picture is I or SI.
  public var isIntra = false
  /// `nal_unit_type` of the first slice of the base picture, readable or not.
  package var sliceType: Codec.NALUnitType?
  /// Whether the slices of the base picture are all there.
  package var slices = SliceSequence()
  /// The references of the first slice that has a list of them. Set if the slice was read to the depth of
  /// ``SliceHeaderDepth/referenceMarking`` and the codec sends all references with each picture (H.265).
  package var references: (slice: Codec.SliceHeader, syntax: Codec.SliceHeader.References)?
  /// Whether the picture is the second field of the frame that the access unit before began.
  public var isSecondField = false
  /// Whether other pictures refer to this one.
  public var isReference: Bool { slice?.isReference ?? false }
  /// The ranges of the SEI NAL units, for ``SEIMessages``.
  public var seiRanges: [Range<Int>] = []
  /// The number of NAL units.
  public var nalUnitCount = 0
  /// Whether it ends the coded video sequence or the stream.
  public var endsSequence = false
  /// Whether the stream's format differs from the format of the access unit before. Set only if an inspector follows
  /// it.
  package var formatChanged = false
  /// How often parameter sets have changed up to this access unit.
  package var parameterSetGeneration: UInt64 = 0
  /// Whether a coded video sequence ends before its picture.
  package var endsSequenceBeforePicture = false
  /// Whether a coded video sequence ends behind its picture.
  package var endsSequenceBehindPicture = false
  /// The first error. Reading continues after it.
  public var error: BitstreamError?
}

/// The slices of a picture, as far as their headers show whether they are all there.
package struct SliceSequence: Sendable, Hashable {
  /// The slice that begins the picture could be read.
  package private(set) var hasFirst = false
  /// Those that could be read follow one another in decoding order, each once.
  package private(set) var isInOrder = true
  /// One could not be read.
  package private(set) var hasUnreadable = false
  private var lastAddress: UInt32?

  /// Takes the next slice.
  ///
  /// - Parameter address: its start, counted in decoding order.
  mutating func take(address: UInt32, isFirstInPicture: Bool) {
    if isFirstInPicture { hasFirst = true }
    if let lastAddress, address <= lastAddress { isInOrder = false }
    lastAddress = address
  }

  /// The next slice cannot be read.
  mutating func takeUnreadable() { hasUnreadable = true }
}
