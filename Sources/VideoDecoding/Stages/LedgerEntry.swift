// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// A session's record of an access unit until its result is known.
struct LedgerEntry {
  /// Counts access units from 0; the packet's timestamp.
  let index: UInt64
  let tag: UInt64
  /// Presentation time, if known.
  var time: Duration?
  /// The picture's duration, if known.
  var duration: Duration?
  /// The display metadata of the SEI messages up to the picture.
  var display = DisplayMetadata()
  let doNotOutput: Bool
  /// Its kind is skipped.
  var isHidden = false
  let nalUnitType: UInt8?
  let isField: Bool
  let isRandomAccessPoint: Bool
  /// A leading picture (H.265): a codec that begins at the CRA picture before it does not output it.
  var isLeading = false
  /// Other pictures refer to it.
  let isReference: Bool
  /// Correct regardless of earlier pictures: an IDR picture or a picture after it in decoding order, a picture that
  /// completes a recovery, or a picture that is intra-coded throughout.
  let standsAlone: Bool
  /// The last picture up to this one that began a coded video sequence: once that is output, nothing from before it can
  /// follow.
  let sequenceStart: UInt64
  /// The start of the recovery that this picture completes; its own index for an IDR picture.
  let recoveryStart: UInt64?
  /// The kind of access unit that decoding began at.
  let start: StartGate.Start
  /// It refers to nothing before this access unit, directly or through others; nil if unknown.
  var referencesSince: UInt64?
  /// Its references, if known (H.265).
  var references: DecodingSummary.References?
  /// It is correct if there is no damage at or after this access unit.
  var recoveredSince: UInt64?
  /// It is shown before the recovery point at which decoding may have begun.
  var awaitsRecovery = false
  /// A part of it is missing.
  var isIncomplete = false
  /// It is for output (`pic_output_flag`).
  var isShown = true
  /// Its position in output order; nil if unknown.
  var order: OutputOrder?
  /// The hash that the decoded picture must have.
  var hash: H265.DecodedPictureHash?
  /// Whether it references damaged pictures.
  var taint = Taint.none
  /// It is a field, and the other field came with the next access unit.
  var hasBothFields = false
  /// libavcodec has concealed damage in it.
  var isConcealed = false
  /// The error with which libavcodec decoded it.
  var error: AVError?
  /// Access units before it that gave no picture.
  var countWithoutPictureBefore: UInt64 = 0

  enum Taint: Equatable {
    case none
    /// Correct once the picture of access unit `index` is output: only pictures shown before it reference damaged
    /// pictures.
    case until(index: UInt64)
    case tainted
  }

  /// The effect of damage that ends before access unit `damageEnd` on this picture and later ones.
  func remaining(_ taint: Taint, damageEnd: UInt64) -> Taint {
    guard taint != .none, let recoveryStart, recoveryStart >= damageEnd else { return taint }
    if recoveryStart == sequenceStart { return .none }
    return taint == .tainted ? .until(index: index) : taint
  }

  /// Whether damage that ends before access unit `damageEnd` cannot affect it.
  func isFree(ofDamageBefore damageEnd: UInt64) -> Bool { referencesSince.map { $0 >= damageEnd } ?? false }
}

extension LedgerEntry {
  init(
    _ submission: Submission, standsAlone: Bool, sequenceStart: UInt64, recoveryStart: UInt64?, start: StartGate.Start
  ) {
    let summary = submission.summary
    index = submission.index
    tag = submission.request.tag
    time = submission.request.time
    duration = submission.request.duration
    display = submission.request.display
    doNotOutput = submission.request.doNotOutput
    nalUnitType = summary.nalUnitType
    isField = summary.isField
    isRandomAccessPoint = summary.randomAccess != .none
    isLeading = summary.isLeading
    isReference = summary.isReference
    self.standsAlone = standsAlone
    self.sequenceStart = sequenceStart
    self.recoveryStart = recoveryStart
    self.start = start
    references = summary.references
    recoveredSince = summary.recoveredSince
    awaitsRecovery = summary.awaitsRecovery
    isIncomplete = summary.isIncomplete
    isShown = summary.isShown
    isHidden = summary.isHidden
    order = summary.order
    hash = summary.hash
  }
}
