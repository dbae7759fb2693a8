// SPDX-License-Identifier: MPL-2.0
import H26x

/// What is looked at in the same way in both codecs: the state of it, and the rules.
struct CommonChecks: Sendable {
  /// What is known of the current picture.
  var picture = PictureFacts()
  /// Times that picture order count began anew.
  var sequence: UInt64 = 0
  /// Of the current access unit, what its SEI says.
  var messages = Messages()
  /// The stream has shown a recovery point SEI.
  private var tellsRecoveryPoints = false
  private var reorder = ReorderDepth()
  private var model = BufferModel()

  /// What SEI of an access unit says of it.
  struct Messages: Sendable {
    var isRecoveryPoint = false
    /// Of the buffering period, in seconds.
    var initialDelay: Double?
    /// Of the picture timing, in seconds.
    var removalDelay: Double?
    /// Whether the picture timing has a picture, or a field of it, shown more than once.
    var isRepeated = false
  }

  /// A coded picture buffer that the stream signals.
  struct SignalledBuffer {
    var bitRate: UInt64
    var size: UInt64
    var isConstantBitRate: Bool
    /// Whether slices and filler data alone go through it (VCL HRD parameters).
    var countsSlicesAlone: Bool
  }

  /// How many frames were really out of order at most.
  var reorderDepth: Int { reorder.maximum }

  mutating func beginAccessUnit() { (picture, messages) = (PictureFacts(), Messages()) }

  /// Takes a picture of I slices for one to begin at, unless the stream signals where one can.
  mutating func judgeIntraPicture() {
    if messages.isRecoveryPoint { tellsRecoveryPoints = true }
    guard !tellsRecoveryPoints, picture.keyframe == .none, picture.letter == 0x49, !picture.isSecondField else {
      return
    }
    picture.keyframe = .intra
  }

  /// A slice whose header cannot be read.
  static func reportUnreadable(_ error: BitstreamError, expected: StaticString, log: inout FindingLog) {
    if error.reason == .missingParameterSet {
      log.report(
        .missingParameterSet, "a slice whose PPS or SPS did not come", expected: "the PPS and its SPS before it")
    } else {
      log.report(.unreadableSlice, ReportText(error), expected: "\(expected)")
    }
  }

  static func check(_ quantizationParameter: Int?, lumaBitDepth: UInt8, log: inout FindingLog) {
    guard let value = quantizationParameter else { return }
    let lowest = -6 * (Int(lumaBitDepth) - 8)
    if value < lowest || value > 51 { log.report(.quantization, "slice QP \(value)", expected: "\(lowest) to 51") }
  }

  /// A picture's order count, in decoding order.
  ///
  /// - Parameters:
  ///   - mayRepeat: whether a count that came before says nothing, as where pictures are missing.
  ///   - allowed: how many pictures may be out of order, and what says so; nil when nothing does.
  mutating func check(
    order: Int32, resets: Bool, mayRepeat: Bool, allowed: (count: Int, element: StaticString)?, log: inout FindingLog
  ) {
    let (depth, isRepeated) = reorder.add(order, resets: resets)
    if isRepeated, !mayRepeat {
      log.report(
        .pictureOrderRepeated, "picture order count \(order) again", expected: "one of its own in the sequence")
    }
    if let allowed, depth > allowed.count {
      log.report(
        .reorderDepth, "\(depth) pictures that precede one and are shown behind it",
        expected: "\(allowed.element) \(allowed.count) at most")
    }
  }

  /// What happened when the picture was stored.
  mutating func report(_ trouble: StorageTrouble, capacity: Int, log: inout FindingLog) {
    if trouble.isFull {
      log.report(
        .decodedBufferFull, "every picture of the buffer is a reference",
        expected: "room in a buffer of \(capacity) pictures")
    }
    if let late = trouble.late {
      log.report(
        .outputOrder, "picture order count \(late.order) due behind \(late.behind)",
        expected: "pictures in order from a buffer of \(capacity) pictures")
    }
  }

  /// Takes the access unit out of the coded picture buffer: the signalled one, or the level's. Answers bits in it right
  /// before, and its size.
  mutating func remove(
    bytes: UInt64, codedBytes: UInt64, from signalled: SignalledBuffer?, limits: LevelLimits?, duration: Double?,
    log: inout FindingLog
  ) -> (fullness: Int64?, size: Int64?) {
    guard picture.exists else { return (nil, nil) }
    let parameters: BufferModel.Parameters
    var bits = codedBytes * 8
    if let signalled {
      parameters = .init(
        bitRate: signalled.bitRate, size: signalled.size, isConstantBitRate: signalled.isConstantBitRate,
        isSignalled: true)
      if !signalled.countsSlicesAlone { bits = bytes * 8 }
    } else if let limits {
      parameters = .init(
        bitRate: limits.bitRate, size: limits.codedBuffer, isConstantBitRate: false, isSignalled: false)
    } else {
      return (nil, nil)
    }
    let fullness = model.next(
      bits: bits, parameters, initialDelay: messages.initialDelay, removalDelay: messages.removalDelay,
      duration: duration, log: &log)
    return (fullness, fullness == nil ? nil : Int64(clamping: parameters.size))
  }
}

/// What went wrong when a picture was stored.
struct StorageTrouble: Sendable {
  /// A picture was to be output behind one of a higher order count.
  var late: (order: Int32, behind: Int32)?
  /// Every picture of the buffer is a reference.
  var isFull = false
}
