// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The properties of an access unit that a session needs before decoding.
struct DecodingSummary {
  /// The kind of random access point.
  enum RandomAccess: Equatable {
    case none
    /// Begins a coded video sequence: IDR, and in H.265 BLA, or CRA with NoRaslOutputFlag 1.
    case idr
    /// A CRA picture within a coded video sequence (H.265): its RASL pictures may refer to earlier pictures.
    case cra
    /// Recovery point SEI: pictures are correct from here on when this is 0, else later, by frames
    /// (`recovery_frame_cnt`, H.264 D.2.8) or by POC (`recovery_poc_cnt`, H.265 D.3.8). Without `exact_match_flag`
    /// they are then only about correct.
    case recoveryPoint(frameCount: Int, isExact: Bool = true)
    /// A picture of I slices only, in a stream without recovery point SEI so far.
    case intra

    /// The stream itself marks it.
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
  /// Whether it is the second field of the previous access unit's frame.
  var isSecondField = false
  /// All its slices are intra-coded: no random access point, but the next best thing.
  var isIntra = false
  /// A recovery point is reached: the pictures after it in output order are correct.
  var completesRecovery = false
  /// Its first slice is missing.
  var isIncomplete = false
  /// Other pictures refer to it.
  var isReference = false
  /// By `frame_num`, a reference picture before this one is missing.
  var followsGap = false
  /// A recovery point with `broken_link_flag`: pictures that follow it in decoding order and are shown before the
  /// recovery point is reached may refer to others than the encoder's.
  var isBrokenLink = false

  /// Its position in output order, if libavcodec discards pictures that come too late for theirs (H.264). Nil
  /// otherwise, and for a second field.
  var order: OutputOrder?
  /// Its position in output order, if libavcodec outputs pictures that come too late for theirs (H.265). Nil otherwise,
  /// and for a picture that is not output.
  var displayOrder: OutputOrder?
  /// Frames that precede it in decoding order and follow it in output order.
  var reorderDepth = 0
  /// Its picture order count leaves room for others between it and all before it.
  var followsOrderGap = false

  /// The pictures that it refers to, by its reference picture set (H.265); nil if unknown.
  var references: References?

  /// A picture's references, by its reference picture set.
  struct References {
    /// The access units that it may refer to.
    var pictures: [UInt64]
    /// All of them were there.
    var areComplete: Bool
    /// The access units that later pictures may refer to, this one included.
    var kept: [UInt64]
  }

  /// A RASL picture of the picture at which decoding began: its references are missing, it is not decoded.
  var isSkipped = false
  /// A leading picture (RASL, RADL).
  var isLeading = false
  /// It is for output (`pic_output_flag`).
  var isShown = true
  /// No other picture refers to it, not of higher sub-layers either.
  var isDiscardable = false
  /// Its first slice is a B slice (H.264).
  var isBidirectional = false
  /// It is decoded because others refer to it, although its kind is skipped.
  var isHidden = false
  /// It is a second field whose first was skipped.
  var lacksFirstField = false
  /// It is shown before the last recovery point is reached (gradual decoding refresh, H.265).
  var awaitsRecovery = false
  /// It is correct if there is no damage at or after this access unit, regardless of its references.
  var recoveredSince: UInt64?
  /// The hash that the decoded picture must have, by SEI.
  var hash: H265.DecodedPictureHash?

  /// A parameter set is new.
  var changesParameterSets = false
  /// Parameter sets that libavcodec needs in front of it, packaged.
  var standIns: [UInt8] = []
  /// The coded video sequence ends with it.
  var endsSequence = false

  /// A splice: a random access point that is no IDR picture, with another SPS than the sequence before, or in H.265
  /// with a POC that goes back.
  var beginsOtherSequence = false

  /// Header bytes to change for the codec: parameter sets that are withheld from it.
  var patches: [PacketPool.Patch] = []

  /// Decoding may begin here, and all pictures shown from here on are correct.
  var isCleanStart: Bool {
    switch randomAccess {
    case .idr, .cra, .recoveryPoint(frameCount: 0, isExact: true): true
    case .none, .recoveryPoint, .intra: false
    }
  }
}

/// A picture's position in output order, by picture order count.
struct OutputOrder: Comparable {
  /// Counts the pictures up to it that begin a new sequence of counts.
  let sequence: UInt64
  /// `PicOrderCnt()`.
  let count: Int32

  static func < (one: OutputOrder, other: OutputOrder) -> Bool {
    (one.sequence, one.count) < (other.sequence, other.count)
  }
}
