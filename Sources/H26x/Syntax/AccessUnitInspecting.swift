// SPDX-License-Identifier: MPL-2.0

/// Looks at whole access units one by one and keeps what the next one needs: parameter sets and the field before.
public protocol AccessUnitInspecting: Sendable {
  /// Whose stream it looks at.
  associatedtype Codec: VideoCodecSyntax

  /// Creates an inspector, with the parameter sets from out of band if there are any.
  init(parameterSets: Codec.ParameterSets)
  /// The parameter sets received so far, in-band ones included.
  var parameterSets: Codec.ParameterSets { get set }
  /// Forgets the picture before, as after a seek. Parameter sets are kept.
  mutating func reset()
  /// Looks at one access unit.
  ///
  /// - Parameters:
  ///   - bytes: the whole access unit.
  ///   - packaging: how its NAL units are packed.
  ///   - depth: how far to read the first slice header.
  /// - Returns: what it holds. Nothing is thrown: damage is told in ``AccessUnitInfo/error``.
  mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging, depth: SliceHeaderDepth) -> AccessUnitInfo<Codec>
}

extension AccessUnitInspecting {
  /// Looks at one access unit, with the slice header read as far as pictures are told apart.
  public mutating func inspect(_ bytes: Span<UInt8>, packaging: NALPackaging) -> AccessUnitInfo<Codec> {
    inspect(bytes, packaging: packaging, depth: .pictureIdentity)
  }
}

/// What one pass over an access unit tells.
public struct AccessUnitInfo<Codec: VideoCodecSyntax>: Sendable {
  /// Whether decoding can start here.
  public enum RandomAccess: Sendable, Hashable {
    /// No.
    case none
    /// At once and cleanly.
    case idr
    /// At a CRA or BLA picture (H.265): pictures may lead it that cannot be decoded then.
    case irap
    /// By a recovery point SEI message.
    case recoveryPoint(Codec.RecoveryPoint)
  }

  /// Whether decoding can start here.
  public var randomAccess: RandomAccess = .none
  /// Whether there is a parameter set.
  public var hasParameterSets = false
  /// Whether one of them is new or differs from the one with the same id before.
  public var changesParameterSets = false
  /// The first slice of the base picture that could be read.
  public var slice: Codec.SliceHeader?
  /// Whether there is any coded slice of the base picture, readable or not.
  public var hasPicture = false
  /// Whether every readable slice of the base picture is I or SI.
  public var isIntra = false
  /// Whether the picture is the second field of the frame that the access unit before began.
  public var isSecondField = false
  /// Whether other pictures refer to this one.
  public var isReference: Bool { slice?.isReference ?? false }
  /// The places of the SEI NAL units, to be read by ``SEIMessages`` where wanted.
  public var seiRanges: [Range<Int>] = []
  /// The number of NAL units.
  public var nalUnitCount = 0
  /// Whether it ends the coded video sequence or the stream.
  public var endsSequence = false
  /// The first thing that could not be read. The rest was read all the same.
  public var error: BitstreamError?
}
