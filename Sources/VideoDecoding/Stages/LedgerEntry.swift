// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// What a session remembers of an access unit until its result is known.
struct LedgerEntry {
  /// Counts access units from 0; the packet's timestamp.
  let index: UInt64
  let tag: UInt64
  /// Presentation time, if known.
  var time: Duration?
  /// How long its picture is shown, if known.
  var duration: Duration?
  /// How it is to be displayed by the SEI messages up to it.
  var display = DisplayMetadata()
  let doNotOutput: Bool
  let nalUnitType: UInt8?
  let isField: Bool
  let isRandomAccessPoint: Bool
  /// A leading picture (H.265): a codec that begins at the CRA picture before it leaves it out.
  var isLeading = false
  /// Other pictures refer to it.
  let isReference: Bool
  /// Correct whatever came before: an IDR picture or one after it in decoding order, one that completes a recovery, one
  /// that is intra-coded throughout.
  let standsAlone: Bool
  /// The last picture up to this one that began a coded video sequence: once that is output, nothing from before it can
  /// follow.
  let sequenceStart: UInt64
  /// Where the recovery began that this picture completes; its own index for an IDR picture.
  let recoveryStart: UInt64?
  /// What decoding began at.
  let start: StartGate.Start
  /// It refers to nothing before this access unit, directly or through others; nil where that is not known.
  var referencesSince: UInt64?
  /// What it refers to, where that is known (H.265).
  var references: DecodingSummary.References?
  /// It is correct if nothing from this access unit on is damaged.
  var recoveredSince: UInt64?
  /// It is shown before the recovery point at which decoding may have begun.
  var awaitsRecovery = false
  /// A part of it is missing.
  var isIncomplete = false
  /// It is for output (`pic_output_flag`).
  var isShown = true
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
    /// Correct once the picture of access unit `index` is output: only those shown before it reference
    /// damaged pictures.
    case until(index: UInt64)
    case tainted
  }

  /// What damage that ends before access unit `damageEnd` means for this picture and later ones.
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
    hash = summary.hash
  }
}
