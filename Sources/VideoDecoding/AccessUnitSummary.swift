// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// What a session wants to know of an access unit before it decodes it.
struct AccessUnitSummary {
  /// Where decoding may begin.
  enum RandomAccess: Equatable {
    case none
    /// IDR picture.
    case idr
    /// Recovery point SEI: the picture is right after so many more frames (H.264 D.2.8).
    case recoveryPoint(frameCount: Int)
    /// A picture of intra slices alone, in a stream that has shown no recovery point SEI so far.
    case intra

    /// The stream itself says so.
    var isMarked: Bool {
      switch self {
      case .idr, .recoveryPoint: true
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

  /// It is a random access point, but no IDR picture, and coded with an SPS that the sequence before was not: a splice.
  var beginsOtherSequence = false

  /// What to change on the way into the codec: see `RefusedParameterSets`.
  var patches: [PacketPool.Patch] = []

  /// Decoding may begin here and everything shown from here on is right.
  var isCleanStart: Bool { randomAccess == .idr || randomAccess == .recoveryPoint(frameCount: 0) }
}
