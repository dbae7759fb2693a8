// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// What a session wants to know of an access unit before it decodes it.
struct AccessUnitSummary {
  /// Where decoding may begin.
  enum RandomAccess: Equatable {
    case none
    /// A picture that begins a coded video sequence: IDR, and in H.265 BLA and the CRA picture that is the first.
    case idr
    /// A CRA picture within a coded video sequence (H.265): pictures shown before it may refer to what came before it.
    case cra
    /// Recovery point SEI: the picture is right after so many more frames (H.264 D.2.8).
    case recoveryPoint(frameCount: Int)
    /// A picture of intra slices alone, in a stream that has shown no recovery point SEI so far.
    case intra

    /// The stream itself says so.
    var isMarked: Bool {
      switch self {
      case .idr, .cra, .recoveryPoint: true
      case .none, .intra: false
      }
    }
  }

  var randomAccess = RandomAccess.none
  /// `nal_unit_type` of the first slice; nil when there is none: the access unit holds no picture.
  var nalUnitType: UInt8?
  var isField = false
  /// It is the second field of the access unit's before.
  var isSecondField = false
  /// All its slices are intra-coded: not a random access point, but the next best thing.
  var isIntra = false
  /// A recovery point is reached: what follows it in presentation order is right.
  var completesRecovery = false
  /// Its first slice is missing.
  var isIncomplete = false
  /// Other pictures refer to it.
  var isReference = false
  /// `frame_num` says that a reference picture before this one is missing.
  var followsGap = false

  /// What it refers to, where each picture says so (H.265); nil where that is not known.
  var references: References?

  /// What a picture refers to, as its reference picture set tells.
  struct References {
    /// The access units that it may refer to.
    var pictures: [UInt64]
    /// There is a picture for everything it may refer to.
    var areComplete: Bool
    /// The access units that later pictures may refer to, this one included.
    var kept: [UInt64]
  }

  /// It leads a picture that decoding begins at and refers to what came before that (RASL): nothing is to be decoded.
  var isSkipped = false
  /// It is shown before the random access point in front of it in decoding order (RASL, RADL).
  var isLeading = false
  /// The stream wants it shown (`pic_output_flag`).
  var isShown = true
  /// No other picture refers to it, of higher sub-layers neither; false where libavcodec is to judge.
  var isDiscardable = false
  /// It is shown before the last recovery point is reached (H.265's gradual refresh).
  var awaitsRecovery = false
  /// It is right if nothing from this access unit on is damaged, whatever it refers to.
  var recoveredSince: UInt64?
  /// What the decoded picture must be, by SEI.
  var hash: H265.DecodedPictureHash?

  /// A parameter set is new.
  var changesParameterSets = false
  /// Parameter sets for libavcodec to see before it, packaged.
  var standIns: [UInt8] = []
  /// The coded video sequence ends with it.
  var endsSequence = false

  /// It is a random access point, but no IDR picture, and coded with an SPS that the sequence before was not: a splice.
  var beginsOtherSequence = false

  /// What to change on the way into the codec: parameter sets that it is not to have.
  var patches: [PacketPool.Patch] = []

  /// Decoding may begin here, and all that is shown behind it is right.
  var isCleanStart: Bool {
    switch randomAccess {
    case .idr, .cra, .recoveryPoint(frameCount: 0): true
    case .none, .recoveryPoint, .intra: false
    }
  }
}
