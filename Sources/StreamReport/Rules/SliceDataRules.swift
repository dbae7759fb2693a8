// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Rules on slice data, which both codecs share.
enum SliceDataRules {
  static func check(_ defect: SliceDefect, log: inout FindingLog) {
    let (slice, codec) = (defect.slice, log.codec)
    switch defect.kind {
    case .damage(let damage):
      let (found, expected) = texts(damage)
      let place = damage.block.map { ", \(block(codec)) \($0)" as ReportText } ?? ""
      log.report(
        .sliceData, at: .init(slice: slice, block: damage.block, bit: damage.bitOffset), clause: damage.clause,
        "slice \(slice)\(place), bit \(damage.bitOffset): \(found)", expected: expected)
    case .missingBlocks(let missing, let isAtEnd):
      let place: ReportText =
        if let first = missing.first {
          isAtEnd ? " from \(first) to the picture's end" : " from \(first) on, before slice \(slice)"
        } else {
          ""
        }
      log.report(
        .missingBlocks, at: .init(slice: slice, block: missing.first, bit: nil), clause: nil,
        "no slice with \(missing.count) \(missing.count == 1 ? block(codec) : blocks(codec))\(place)",
        expected: "slices that cover the picture")
    case .strayPartition:
      log.report(
        .sliceData, at: .init(slice: slice, block: nil, bit: nil), clause: "7.4.1.2.5",
        "data partition B or C without its data partition A", expected: "data partitions A, B and C of a slice in order"
      )
    case .limit(let violation): check(violation, slice: slice, log: &log)
    case .bins(let bins):
      log.report(
        .binCount, at: .init(slice: slice, block: nil, bit: nil), clause: nil,
        "\(bins.binCount) bins in \(bins.byteCount) bytes of slices", expected: "\(bins.limit) bins at most")
    }
  }

  private static func check(_ violation: LimitViolation, slice: Int, log: inout FindingLog) {
    let codec = log.codec
    let (rule, found, expected): (Rule, ReportText, ReportText) =
      switch violation.limit {
      case .vectorDifference:
        (
          .vectorDifference, "a vector difference of \(violation.value) quarter samples",
          "\(violation.least) to \(violation.most)"
        )
      case .bipredictionSize:
        (.bipredictionSize, "sub_mb_type \(violation.value), biprediction below 8x8", "8x8 or more at this level")
      case .blockBits: (.blockBits, "\(violation.value) bits", "\(violation.most) at most")
      }
    let others = violation.count - 1
    let more: ReportText = others == 0 ? "" : ", and \(others) more in the slice"
    log.report(
      rule, at: .init(slice: slice, block: violation.block, bit: violation.bitOffset), clause: nil,
      "slice \(slice), \(block(codec)) \(violation.block), bit \(violation.bitOffset): \(found)\(more)",
      expected: expected)
  }

  private static func block(_ codec: FormatDescription.Codec) -> StaticString {
    codec == .h264 ? "macroblock" : "coding tree block"
  }

  private static func blocks(_ codec: FormatDescription.Codec) -> StaticString {
    codec == .h264 ? "macroblocks" : "coding tree blocks"
  }

  private static func texts(_ damage: SliceDamage) -> (found: ReportText, expected: ReportText) {
    let element = damage.element
    return switch damage.reason {
    case .header: ("\(element) that cannot be read", "a slice header that fits its parameter sets")
    case .illegalCode: ("bits that are no code of \(element)", "a code of \(element)")
    case .valueOutOfRange: ("\(element) out of range", "\(element) in its range")
    case .truncated: ("the data end in \(element)", "data up to the end of the slice")
    case .surplusData: ("data behind the end of the slice", "the end of the data")
    case .badAlignment: ("wrong bits in \(element)", "the bits that the standard requires")
    case .beyondPicture: ("a block behind the last one of the picture", "the end of the slice")
    case .codedTwice: ("a block that another slice covers", "each block in one slice")
    case .contradiction: ("\(element) that contradicts another slice of the picture", "slices that fit together")
    case .wrongEntryPoint: ("\(element) that is not the length of the substream", "the length of the substream")
    case .unsupported: ("\(element) that is not supported", "syntax that is supported")
    }
  }
}
