// SPDX-License-Identifier: MPL-2.0
import H26x

/// The state and the rules of pictures that both codecs share.
struct CommonChecks: Sendable {
  /// The current picture.
  var picture = PictureFacts()
  /// How many times picture order counts were reset.
  var sequence: UInt64 = 0
  /// SEI messages of the current access unit.
  var messages = Messages()
  /// The stream has shown a recovery point SEI.
  private var tellsRecoveryPoints = false
  private var hasReportedPeriod = false
  private var hasReportedTiming = false
  private var reorder = ReorderDepth()
  private var model = BufferModel()

  /// What the SEI messages of an access unit say.
  struct Messages: Sendable {
    var isRecoveryPoint = false
    /// The initial removal delay of the buffering period, in seconds.
    var initialDelay: Double?
    /// The removal delay of the picture timing, in seconds.
    var removalDelay: Double?
    /// Whether the picture timing repeats the picture or one of its fields.
    var isRepeated = false
    /// Whether the picture timing is of a field; nil where it does not say.
    var isField: Bool?
    /// `preferred_transfer_characteristics`.
    var preferredTransfer: UInt8?
    var hasBufferingPeriod = false
    var hasPictureTiming = false
  }

  /// A coded picture buffer that the stream signals.
  struct SignalledBuffer {
    var bitRate: UInt64
    var size: UInt64
    var isConstantBitRate: Bool
    /// Whether it holds VCL NAL units and filler data only (VCL HRD parameters).
    var holdsVCLOnly: Bool
    /// Whether a picture may arrive later than its nominal removal time (`low_delay_hrd_flag`).
    var isLowDelay: Bool
  }

  /// The greatest reorder depth in frames.
  var reorderDepth: Int { reorder.maximum }

  mutating func beginAccessUnit() { (picture, messages) = (PictureFacts(), Messages()) }

  /// Checks that SEI messages are there and fit the picture.
  mutating func checkMessages(hasBuffer: Bool, log: inout FindingLog) {
    guard picture.exists else { return }
    if let isField = messages.isField, isField != picture.isField {
      log.report(
        .pictureType, "pic_struct of a \(isField ? "field" : "frame")",
        expected: "that of a \(picture.isField ? "field" : "frame")")
    }
    guard hasBuffer else { return }
    let begins = [.idr, .cra, .bla].contains(picture.keyframe) && !picture.onlyCompletes
    // Once each: a stream without them lacks them in every picture.
    if begins, !messages.hasBufferingPeriod, !hasReportedPeriod {
      hasReportedPeriod = true
      log.report(.missingTimingSEI, "HRD parameters without buffering period SEI", expected: "one with this picture")
    }
    if !messages.hasPictureTiming, !hasReportedTiming {
      hasReportedTiming = true
      log.report(.missingTimingSEI, "HRD parameters without picture timing SEI", expected: "one with this picture")
    }
  }

  /// Takes a picture of I slices for one to begin at, unless the stream signals where one can.
  mutating func judgeIntraPicture() {
    if messages.isRecoveryPoint { tellsRecoveryPoints = true }
    guard !tellsRecoveryPoints, picture.keyframe == .none, picture.letter == 0x49, !picture.onlyCompletes else {
      return
    }
    picture.keyframe = .intra
  }

  /// A slice whose header cannot be read.
  static func reportUnreadable(_ error: BitstreamError, expected: StaticString, log: inout FindingLog) {
    if error.reason == .missingParameterSet {
      log.report(
        .missingParameterSet, "a slice whose PPS or SPS is missing", expected: "the PPS and its SPS before it")
    } else {
      log.report(.unreadableSlice, ReportText(error), expected: "\(expected)")
    }
  }

  /// Checks fields of the VUI that are the same in both codecs (E.2.1, E.3.1).
  static func check(aspectRatio: UInt8?, unitsInTick: UInt32?, timeScale: UInt32?, log: inout FindingLog) {
    if let aspectRatio, (17..<255).contains(aspectRatio) {
      log.report(.reservedValue, "aspect_ratio_idc \(aspectRatio)", expected: "0 to 16, or 255")
    }
    if unitsInTick == 0 { log.report(.reservedValue, "num_units_in_tick 0", expected: "more than 0") }
    if timeScale == 0 { log.report(.reservedValue, "time_scale 0", expected: "more than 0") }
  }

  /// Checks a value that the standard limits and that no decoder uses, so that it can be read whatever it is.
  static func check(
    _ value: some UnsignedInteger, _ element: StaticString, most limit: UInt16 = 16, log: inout FindingLog
  ) {
    if value > limit { log.report(.reservedValue, "\(element) \(value)", expected: "0 to \(limit)") }
  }

  static func check(_ quantizationParameter: Int?, lumaBitDepth: UInt8, log: inout FindingLog) {
    guard let value = quantizationParameter else { return }
    let lowest = -6 * (Int(lumaBitDepth) - 8)
    if value < lowest || value > 51 { log.report(.quantization, "slice QP \(value)", expected: "\(lowest) to 51") }
  }

  /// Checks a picture's POC; called in decoding order.
  ///
  /// - Parameters:
  ///   - resets: whether the picture resets the POC.
  ///   - isOutput: whether it is output at all.
  ///   - mayRepeat: whether a repeated POC is no finding, as where pictures are missing.
  ///   - allowed: the signalled reorder depth, and the name of its syntax element; nil where it is not signalled.
  mutating func check(
    order: Int32, resets: Bool, isOutput: Bool = true, mayRepeat: Bool, allowed: (count: Int, element: StaticString)?,
    log: inout FindingLog
  ) {
    let (depth, isRepeated) = reorder.add(order, resets: resets, isOutput: isOutput)
    if isRepeated, !mayRepeat {
      log.report(
        .pictureOrderRepeated, "POC \(order) again", expected: "a POC that no other picture of the sequence has")
    }
    if let allowed, depth > allowed.count {
      log.report(
        .reorderDepth, "\(depth) pictures that precede one in decoding order and follow it in output order",
        expected: "\(allowed.element) \(allowed.count) at most")
    }
  }

  /// Reports what went wrong when the picture was stored.
  mutating func report(_ trouble: StorageTrouble, capacity: Int, log: inout FindingLog) {
    if trouble.isFull {
      log.report(
        .decodedBufferFull, "every picture of the buffer is a reference",
        expected: "room in a buffer of \(capacity) pictures")
    }
    if let late = trouble.late {
      log.report(
        .outputOrder, "POC \(late.order) output after \(late.behind)",
        expected: "pictures in order from a buffer of \(capacity) pictures")
    }
  }

  /// Removes the access unit from the coded picture buffer: the signalled one, or the level's.
  ///
  /// - Parameters:
  ///   - bytes: the size of the access unit.
  ///   - codedBytes: the size of its VCL NAL units and filler data.
  ///   - duration: seconds since the access unit before; nil when not known.
  /// - Returns: the bits in the buffer just before, and its size in bits; nil when not known.
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
        isSignalled: true, isLowDelay: signalled.isLowDelay)
      if !signalled.holdsVCLOnly { bits = bytes * 8 }
    } else if let limits {
      parameters = .init(
        bitRate: limits.bitRate, size: limits.codedBuffer, isConstantBitRate: false, isSignalled: false,
        isLowDelay: false)
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
  /// A picture was output after one of a higher POC.
  var late: (order: Int32, behind: Int32)?
  /// Every picture of the buffer is a reference.
  var isFull = false
}
